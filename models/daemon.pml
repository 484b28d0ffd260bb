/* The daemon's queue, memory budget, journal and drain, with kill -9, for spin (models/check.py, models/README.md).
 *
 * One process is one thread that acts by itself: clients, a thread that makes witnesses, the device, and an operator
 * who kills, drains and restarts the daemon. What happens under the engine's mutex is one atomic step that ends with
 * pump(), as in src/engine; the journal is written outside, so that a kill can come before and after it.
 *
 * Checked: no client waits for ever (invalid end states); a detached job whose acceptance was answered is known after
 * every restart and ends exactly once, with a proof; two live jobs are never the same request; memory is never over the
 * budget and all of it comes back; a drain ends.
 */

#define SLOTS 3 /* jobs at once, ended ones in the journal too; lower numbers go first */
#define IDS 2   /* requests; each of its own circuit */
#ifndef REQUEST
#define REQUEST 1
#endif
#define WITNESS 2
#define PARAMETERS 3
#define SCRATCH 1
#define NEED (WITNESS + PARAMETERS + SCRATCH) /* of a partition, beside its request */
#ifndef TOTAL
#define TOTAL 8 /* two requests and one proof */
#endif

#define FREE 0
#define INACTIVE 1 /* waits for the journal */
#define ACTIVE 2
#define RECORDING 3 /* its result is being written into the journal */
#define ENDED 4

#define NONE 0
#define MAKING 1
#define READY 2
#define ON_DEVICE 3
#define PROVED 4

/* The job table, all of which a kill wipes. */
byte state[SLOTS];
byte phase[SLOTS]; /* of its partition */
byte id[SLOTS];
byte holders[SLOTS];  /* clients that know the job: its number is not given to another meanwhile */
byte watchers[SLOTS];
bit detached[SLOTS];
bit journalled[SLOTS];
bit shared[SLOTS];
bit stopping[SLOTS]; /* ends when its work stops */
bit parked[SLOTS];

byte used = 0; /* memory */
byte held = 0; /* of it, by requests */
bit resident[IDS];
bit loading = 0;
byte device_job = SLOTS; /* SLOTS: nobody's */
byte device_id = 0;
byte threads = 1; /* free to make witnesses */

bit up = 1;
bit draining = 0;
bit cut = 0; /* the drain's deadline has passed */
byte epoch = 0;

/* The journal, which stays. */
#define NOTHING 0
#define PENDING 1
#define FINISHED 2
byte journal[SLOTS];
byte journal_id[SLOTS];

/* What the outside world knows. */
bit promised[IDS]; /* a SubmitProof was answered */
byte ends[IDS];    /* results that the journal got for it */
byte clients = 0;  /* that are done */
byte kills = 0;
byte drains = 0;
byte full_disks = 0;
byte faults = 0;

#define alive(i) ((state[i] == INACTIVE || state[i] == ACTIVE || state[i] == RECORDING) && !stopping[i])
#define device_idle (!loading && device_job == SLOTS)

inline take(n) {
  used = used + n;
  assert(used <= TOTAL);
}
inline give(n) {
  assert(used >= n);
  used = used - n;
}

/* Of an ended job that nobody knows any more and the journal does not have. */
inline free_slot(i) {
  if
  :: state[i] == ENDED && holders[i] == 0 && journal[i] == NOTHING -> state[i] = FREE; id[i] = 0; detached[i] = 0;
     journalled[i] = 0; shared[i] = 0; stopping[i] = 0; parked[i] = 0; phase[i] = NONE;
  :: else -> skip;
  fi
}

/* A job is worked on no more; its result, if it is to be recorded, is not yet. */
inline end_work(i) {
  give(REQUEST);
  held = held - REQUEST;
  if
  :: phase[i] == READY || phase[i] == PROVED -> phase[i] = NONE; /* the witness was freed by who set PROVED */
  :: else -> skip;
  fi;
}

inline drop_ready_witness(i) {
  if
  :: phase[i] == READY -> give(WITNESS); phase[i] = NONE;
  :: else -> skip;
  fi
}

inline end_job(i) {
  assert(phase[i] == PROVED || !journalled[i]); /* who was promised a proof is not cancelled */
  drop_ready_witness(i);
  end_work(i);
  if
  :: journalled[i] -> state[i] = RECORDING;
  :: else -> state[i] = ENDED; free_slot(i);
  fi
}

/* Unloads what nobody uses now and no earlier task needs. Only where the device has nothing else to do. */
inline give_up_parameters(who) {
  c = 0;
  do
  :: c < IDS && resident[c] && c != id[who] && device_idle ->
     k = 0;
     do
     :: k < who && !(state[k] == ACTIVE && !parked[k] && id[k] == c && phase[k] < ON_DEVICE) -> k++;
     :: else -> break;
     od;
     if
     :: k == who -> resident[c] = 0; give(PARAMETERS);
     :: else -> skip;
     fi;
     c++;
  :: c < IDS && !(resident[c] && c != id[who] && device_idle) -> c++;
  :: else -> break;
  od;
}

/* Drops witnesses of later tasks: they are soon made again. */
inline give_up_witnesses(who) {
  k = who + 1;
  do
  :: k < SLOTS -> drop_ready_witness(k); k++;
  :: else -> break;
  od;
}

inline make_room(who, bytes) {
  room = 0;
  if
  :: blocked -> skip;
  :: !blocked ->
     if
     :: used + bytes > TOTAL ->
#ifndef BREAK_NOTHING_IS_GIVEN_UP
        give_up_parameters(who);
#endif
        if
#ifndef BREAK_WITNESSES_STAY
        :: used + bytes > TOTAL -> give_up_witnesses(who);
#endif
        :: else -> skip;
        fi;
     :: else -> skip;
     fi;
     if
     :: used + bytes <= TOTAL -> room = 1;
     :: else -> blocked = 1; /* nobody later overtakes it */
     fi;
  fi
}

/* Gives the device and the threads their next work, the first in order first. */
inline pump() {
  i = 0;
  blocked = 0;
  do
  :: i < SLOTS ->
     if
     :: up && state[i] == ACTIVE && !parked[i] && !stopping[i] ->
        if
        :: device_idle && !resident[id[i]] && phase[i] <= READY ->
           make_room(i, PARAMETERS);
           if
           :: room -> take(PARAMETERS); loading = 1; device_id = id[i];
           :: else -> skip;
           fi;
        :: device_idle && resident[id[i]] && phase[i] == READY ->
           make_room(i, SCRATCH);
           if
           :: room -> take(SCRATCH); phase[i] = ON_DEVICE; device_job = i; device_id = id[i];
           :: else -> skip;
           fi;
        :: else -> skip;
        fi;
        if
        :: phase[i] == NONE && threads > 0 ->
           make_room(i, WITNESS);
           if
           :: room -> take(WITNESS); phase[i] = MAKING; threads--;
           :: else -> skip;
           fi;
        :: else -> skip;
        fi;
     :: else -> skip;
     fi;
     i++;
  :: else -> break;
  od;
  i = 0;
  blocked = 0;
  room = 0;
  c = 0;
  k = 0
}

/* s: the live or completed job of that request, or SLOTS. */
inline look_for(request) {
  s = 0;
  do
  :: s < SLOTS && (alive(s) || (state[s] == ENDED && !stopping[s])) && id[s] == request -> break;
  :: s < SLOTS && !((alive(s) || (state[s] == ENDED && !stopping[s])) && id[s] == request) -> s++;
  :: s == SLOTS -> break;
  od
}

#define free_in(i) (state[i] == FREE && journal[i] == NOTHING && holders[i] == 0 && phase[i] == NONE && device_job != i)
#define known(i, request) (id[i] == request && (alive(i) || (state[i] == ENDED && !stopping[i])))
#define is_known(request) (known(0, request) || known(1, request) || known(2, request))
/* Beside all requests there is always room for one proof. */
#ifdef BREAK_REQUESTS_FILL_MEMORY
#define has_memory (used + REQUEST <= TOTAL)
#else
#define has_memory (held + REQUEST + NEED <= TOTAL && used + REQUEST <= TOTAL)
#endif
#define can_submit(request) \
  (up && !draining && (is_known(request) || ((free_in(0) || free_in(1) || free_in(2)) && has_memory)))

/* Attaches to the job of the request or makes one; to_journal: as in JobTable. */
inline submit(request, wants_detached) {
  look_for(request);
#ifdef BREAK_ATTACH
  s = SLOTS;
#endif
  if
  :: s < SLOTS ->
     shared[s] = 1;
     detached[s] = detached[s] || wants_detached;
     to_journal = wants_detached && !journalled[s];
  :: else ->
     s = 0;
     do
     :: s < SLOTS && !free_in(s) -> s++;
     :: else -> break;
     od;
     assert(s < SLOTS);
     id[s] = request;
     detached[s] = wants_detached;
     to_journal = wants_detached;
     take(REQUEST);
     held = held + REQUEST;
     if
     :: wants_detached -> state[s] = INACTIVE;
     :: else -> state[s] = ACTIVE;
     fi;
  fi;
  holders[s]++;
  e = epoch;
  pump()
}

inline check_no_double() {
  assert(!(alive(0) && alive(1) && id[0] == id[1]));
  assert(!(alive(0) && alive(2) && id[0] == id[2]));
  assert(!(alive(1) && alive(2) && id[1] == id[2]))
}

/* All variables of the process are gone; what is in the journal stays. */
inline wipe() {
  i = 0;
  do
  :: i < SLOTS ->
     state[i] = FREE; phase[i] = NONE; id[i] = 0; holders[i] = 0; watchers[i] = 0; detached[i] = 0; journalled[i] = 0;
     shared[i] = 0; stopping[i] = 0; parked[i] = 0;
     i++;
  :: else -> break;
  od;
  used = 0; held = 0; resident[0] = 0; resident[1] = 0; loading = 0; device_job = SLOTS; device_id = 0; threads = 1;
  draining = 0; cut = 0; up = 0; i = 0;
  epoch++
}

/* SubmitProof, then AwaitProof; an unanswered call is made again. */
proctype Detached(byte request) {
  byte s, e, i, c, k;
  bit to_journal, blocked, room, written;
again:
  atomic { can_submit(request) -> submit(request, 1); check_no_double(); }
#ifdef BREAK_ANSWER_BEFORE_JOURNAL
  promised[request] = 1;
#endif
  if
  :: atomic { epoch != e -> s = 0; e = 0; to_journal = 0; goto again; }
  :: atomic { epoch == e && !to_journal -> skip; }
  :: atomic { epoch == e && to_journal && full_disks == 0 -> full_disks++; written = 0; goto answer_disk; }
  :: atomic { epoch == e && to_journal -> /* accept(): nothing where it is there already */
       if
       :: journal[s] == NOTHING -> journal[s] = PENDING; journal_id[s] = request;
       :: else -> skip;
       fi;
       written = 1; }
answer_disk:
     if
     :: atomic { epoch != e -> s = 0; e = 0; to_journal = 0; goto again; }
     :: atomic { epoch == e && written && stopping[s] -> /* cancelled meanwhile, by a drain: refused, and made again */
          journal[s] = NOTHING;
          written = 0;
          holders[s]--;
          free_slot(s);
          s = 0; e = 0; to_journal = 0;
          goto again; }
     :: atomic { epoch == e && written && !stopping[s] -> written = 0;
          journalled[s] = 1;
          if
          :: state[s] == INACTIVE -> state[s] = ACTIVE;
          :: else -> skip;
          fi;
#ifndef BREAK_ACCEPTED_WHILE_DRAINING
          if
          :: draining && state[s] == ACTIVE -> parked[s] = 1; drop_ready_witness(s);
          :: else -> skip;
          fi;
#endif
          pump(); }
        if
        :: atomic { epoch != e -> s = 0; e = 0; to_journal = 0; goto again; }
        :: atomic { epoch == e && state[s] == ENDED && journal[s] == PENDING -> /* it ended before it was there */
             journal[s] = FINISHED; ends[request]++; }
        :: atomic { epoch == e && !(state[s] == ENDED && journal[s] == PENDING) -> skip; }
        fi;
     :: atomic { epoch == e && !written -> /* refused, and made again later */
          holders[s]--;
          if
          :: state[s] == INACTIVE && !shared[s] ->
             give(REQUEST);
             held = held - REQUEST;
             state[s] = ENDED;
             free_slot(s);
          :: state[s] == INACTIVE && shared[s] -> state[s] = ACTIVE; /* for those who attached to it */
          :: else -> free_slot(s);
          fi;
          pump();
          s = 0;
          e = 0;
          to_journal = 0;
          goto again; }
     fi;
  fi;
  atomic { to_journal = 0; promised[request] = 1; }
wait:
  if
  :: atomic { epoch == e && state[s] == ENDED -> s = 0; e = 0; clients++; }
  :: atomic { epoch != e && up ->
       look_for(request);
       assert(s < SLOTS);
       holders[s]++;
       e = epoch;
       goto wait; }
  fi
}

/* Prove: called again where the daemon went away; may leave before it ends, but need not. */
proctype Awaited(byte request) {
  byte s, e, i, c, k;
  bit to_journal, blocked, room;
again:
  atomic { can_submit(request) -> submit(request, 0); check_no_double(); to_journal = 0;
    if
    :: state[s] != ENDED -> watchers[s]++;
    :: else -> skip;
    fi;
    if
    :: goto stay;
    :: goto leave;
    fi; }
stay:
  if
  :: atomic { epoch != e -> s = 0; e = 0; goto again; }
  :: atomic { epoch == e && state[s] == ENDED -> goto done; }
  fi;
leave:
  if
  :: atomic { epoch != e -> s = 0; e = 0; clients++; }
  :: atomic { epoch == e && state[s] == ENDED ->
done:
       holders[s]--;
       if
       :: watchers[s] > 0 -> watchers[s]--;
       :: else -> skip;
       fi;
       free_slot(s);
       s = 0; e = 0; clients++; }
  :: atomic { epoch == e && state[s] != ENDED ->
       holders[s]--;
       watchers[s]--;
       if
       :: watchers[s] == 0 && !detached[s] && !stopping[s] -> /* nobody waits, and the grace time is over */
          stopping[s] = 1;
          if
          :: phase[s] == MAKING || phase[s] == ON_DEVICE -> skip;
          :: else -> end_job(s);
          fi;
       :: else -> skip;
       fi;
       pump();
       s = 0; e = 0; clients++; }
  fi
}

/* Writes results into the journal, and tells who waits. */
active proctype Recorder() {
  byte i, c, k, s = 0, e;
  bit blocked, room;
end:
  do
  :: atomic { state[0] == RECORDING -> s = 0; goto write; }
  :: atomic { state[1] == RECORDING -> s = 1; goto write; }
  :: atomic { state[2] == RECORDING -> s = 2;
write: /* finish() */
       e = epoch;
       assert(journal[s] != FINISHED);
       if
       :: journal[s] == PENDING -> ends[id[s]]++;
       :: else -> skip;
       fi;
       journal[s] = FINISHED; journal_id[s] = id[s]; }
     if
     :: atomic { epoch == e -> state[s] = ENDED; pump(); s = 0; e = 0; }
     :: atomic { epoch != e -> s = 0; e = 0; }
     fi
  od
}

/* Makes witnesses; a stopped job ends here. */
active proctype Thread() {
  byte i, c, k, s = 0;
  bit blocked, room;
end:
  do
  :: atomic { phase[0] == MAKING -> s = 0; goto made; }
  :: atomic { phase[1] == MAKING -> s = 1; goto made; }
  :: atomic { phase[2] == MAKING -> s = 2;
made:
       threads++;
       if
       :: stopping[s] || parked[s] -> give(WITNESS); phase[s] = NONE;
       :: else -> phase[s] = READY;
       fi;
       if
       :: stopping[s] -> end_job(s);
       :: else -> skip;
       fi;
       pump();
       s = 0; }
  od
}

active proctype Device() {
  byte i, c, k, s = 0;
  bit blocked, room;
end:
  do
  :: atomic { loading -> loading = 0; resident[device_id] = 1; device_id = 0; pump(); }
  :: atomic { device_job < SLOTS && faults == 0 -> /* its process died, and all that was resident is gone */
       faults++;
       s = device_job;
       device_job = SLOTS;
       give(SCRATCH);
       c = 0;
       do
       :: c < IDS && resident[c] -> resident[c] = 0; give(PARAMETERS); c++;
       :: c < IDS && !resident[c] -> c++;
       :: else -> break;
       od;
       if
       :: stopping[s] || parked[s] -> give(WITNESS); phase[s] = NONE;
       :: else -> phase[s] = READY;
       fi;
       if
       :: stopping[s] -> end_job(s);
       :: else -> skip;
       fi;
       pump();
       s = 0; }
  :: atomic { device_job < SLOTS -> /* proved, and verified */
       s = device_job;
       device_job = SLOTS;
       device_id = 0;
       give(SCRATCH);
       give(WITNESS);
       phase[s] = PROVED;
       end_job(s);
       pump();
       s = 0; }
  od
}

#define still_busy(i)                                                                                        \
  ((state[i] == ACTIVE && !parked[i]) || state[i] == INACTIVE || state[i] == RECORDING ||                    \
   (state[i] == ACTIVE && parked[i] && !cut && phase[i] == ON_DEVICE))

#ifdef BREAK_DRAIN_CANCELS_ALL
#define cancels(i) true
#else
#define cancels(i) (!parked[i])
#endif

active proctype Operator() {
  byte i, c, k;
  bit blocked, room;
end:
  do
  :: atomic { up && kills == 0 -> kills++; wipe(); }
  :: atomic { up && !draining && drains == 0 -> /* SIGTERM */
       drains++;
       draining = 1;
       i = 0;
       do
       :: i < SLOTS ->
          if
          :: state[i] == ACTIVE && journalled[i] -> parked[i] = 1; drop_ready_witness(i);
          :: else -> skip;
          fi;
          i++;
       :: else -> break;
       od;
       pump(); }
  :: atomic { up && draining && !cut -> /* the deadline: what only somebody waits for is cancelled */
       cut = 1;
       k = 0;
       do
       :: k < SLOTS ->
          if
          :: state[k] == ACTIVE && cancels(k) && phase[k] != MAKING && phase[k] != ON_DEVICE -> end_job(k);
          :: state[k] == ACTIVE && cancels(k) && (phase[k] == MAKING || phase[k] == ON_DEVICE) -> stopping[k] = 1;
          :: else -> skip;
          fi;
          k++;
       :: else -> break;
       od;
       k = 0;
       pump(); }
  :: atomic { up && draining && !still_busy(0) && !still_busy(1) && !still_busy(2) -> wipe(); }
  :: atomic { !up -> /* restart: recover() */
       i = 0;
       do
       :: i < SLOTS ->
          if
          :: journal[i] == PENDING -> state[i] = ACTIVE; id[i] = journal_id[i]; detached[i] = 1; journalled[i] = 1;
             take(REQUEST); held = held + REQUEST;
          :: journal[i] == FINISHED -> state[i] = ENDED; id[i] = journal_id[i]; detached[i] = 1; journalled[i] = 1;
          :: else -> skip;
          fi;
          i++;
       :: else -> break;
       od;
       up = 1;
       assert(!promised[0] || is_known(0)); /* an accepted job is not lost */
       check_no_double();
       pump(); }
  od
}

#define quiet(i) (state[i] == FREE || state[i] == ENDED)

/* When all clients are done and nothing is left to do. */
active proctype Monitor() {
  atomic {
    clients == 3 && up && quiet(0) && quiet(1) && quiet(2) && device_idle ->
    assert(ends[0] == 1);
    assert(held == 0);
    assert(used == PARAMETERS * (resident[0] + resident[1]));
  }
}

init {
  atomic { run Detached(0); run Awaited(0); run Awaited(1); }
}
