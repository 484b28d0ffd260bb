// A gRPC client that shares no code with ours (@grpc/grpc-js), for tests: reads commands, a JSON object a line, from
// stdin, starts each at once, and prints a JSON object a line when one ends. Ends when stdin does and all is answered.
//   node client.mjs ADDRESS [ROOT_CERTIFICATE [CLIENT_KEY CLIENT_CERTIFICATE]]
//   {"n": 1, "method": "Prove", "request": {...}, "deadline_ms": 5000, "cancel_after_ms": 100, "metadata": {...}}
//   {"n": 2, "method": "Check", "request": {"service": ""}}            health
//   {"n": 3, "method": "ServerReflectionInfo", "request": {...}}       reflection, one question
// A string "@FILE" where a request has bytes is replaced by the file's content; "base64:..." by what it encodes.
// Answers: {"n", "code": 0, "reply": {...}, "ms"}, or {"n", "code", "details", "metadata", "ms"}. Bytes come as base64.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';

const here = path.dirname(new URL(import.meta.url).pathname);
const options = {keepCase: true, longs: Number, enums: String, defaults: true, bytes: Buffer};

// Without our additions (numbers from 1000 on): what the clients of the reference know.
function referenceProto() {
  const text = fs.readFileSync(path.join(here, '../../proto/cuzk/v1/proving.proto'), 'utf8');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cuzk-wire-'));
  const file = path.join(folder, 'proving.proto');
  fs.writeFileSync(file, text.split('\n').filter((line) => !/=\s*1\d{3}\s*;/.test(line)).join('\n'));
  const loaded = loader.loadSync(file, options);
  fs.rmSync(folder, {recursive: true});
  return loaded;
}

const [address, root, key, certificate] = process.argv.slice(2);
const read = (file) => (file === undefined ? undefined : fs.readFileSync(file));
const credentials = root === undefined ? grpc.credentials.createInsecure() :
    grpc.credentials.createSsl(read(root), read(key), read(certificate));
const channel = {'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1,
                 'grpc.ssl_target_name_override': root === undefined ? undefined : 'localhost'};
const proving = referenceProto();
const standard = loader.loadSync(path.join(here, 'standard.proto'), options);
const Engine = grpc.loadPackageDefinition(proving).cuzk.v1.ProvingEngine;
const engine = new Engine(address, credentials, channel);
const client = new grpc.Client(address, credentials, channel);
const standardPaths = {
  Check: '/grpc.health.v1.Health/Check',
  ServerReflectionInfo: '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
};

function withBytes(value) {
  if (Array.isArray(value)) return value.map(withBytes);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBytes(inner)]));
  }
  if (typeof value === 'string' && value.startsWith('@')) return fs.readFileSync(value.slice(1));
  if (typeof value === 'string' && value.startsWith('base64:')) return Buffer.from(value.slice(7), 'base64');
  return value;
}

function printable(value) {
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (Array.isArray(value)) return value.map(printable);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, printable(inner)]));
  }
  return value;
}

let open = 0, ended = false;
const leaveWhenDone = () => {
  if (ended && open === 0) {
    engine.close();
    client.close();
  }
};

function start(command) {
  const begin = Date.now();
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(command.metadata ?? {})) metadata.set(name, value);
  const callOptions = command.deadline_ms === undefined ? {} : {deadline: begin + command.deadline_ms};
  open += 1;
  const answer = (error, reply) => {
    const out = {n: command.n, code: error ? error.code : 0, ms: Date.now() - begin};
    if (error) {
      Object.assign(out, {details: error.details, metadata: printable(error.metadata?.getMap() ?? {})});
    } else {
      out.reply = printable(reply);
    }
    process.stdout.write(JSON.stringify(out) + '\n');
    open -= 1;
    leaveWhenDone();
  };
  const request = withBytes(command.request ?? {});
  let call;
  if (command.method in standardPaths) {
    const {requestSerialize, responseDeserialize} = standard['grpc.Standard'][command.method];
    if (command.method === 'Check') {
      call = client.makeUnaryRequest(standardPaths.Check, requestSerialize, responseDeserialize, request, metadata,
                                     callOptions, answer);
    } else {
      call = client.makeBidiStreamRequest(standardPaths.ServerReflectionInfo, requestSerialize, responseDeserialize,
                                          metadata, callOptions);
      let reply = null;
      call.on('data', (data) => { reply = data; });
      call.on('error', (error) => answer(error));
      call.on('end', () => { if (reply !== null) answer(null, reply); });
      call.write(request);
      call.end();
    }
  } else {
    call = engine[command.method](request, metadata, callOptions, answer);
  }
  if (command.cancel_after_ms !== undefined) setTimeout(() => call.cancel(), command.cancel_after_ms);
}

readline.createInterface({input: process.stdin}).on('line', (line) => {
  if (line.trim() !== '') start(JSON.parse(line));
}).on('close', () => {
  ended = true;
  leaveWhenDone();
});
