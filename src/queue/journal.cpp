#include "queue/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/assert.hpp"
#include "queue/journal_records.hpp"
#include "queue/sqlite.hpp"

namespace cuzk {
namespace {

constexpr int64_t kApplicationId = 0x63757a6b;  // "cuzk"
constexpr int64_t kVersion = 1;

// A process may give away so many keys before the journal has to know: years of them, so that a job that is only
// awaited costs no write. Lost where a process does not close() the journal.
constexpr JobKey kKeysAhead = JobKey{1} << 36;
constexpr JobKey kMostKeys = JobKey{1} << 62;  // SQLite's integers are signed

constexpr uint64_t kPageBytes = 16384;
constexpr off_t kLeastBytes = 512;  // SQLite's smallest page
// Free space in the file beyond this is given back to the disk once little else is in the file: to shrink it means to
// move pages from its end, and while jobs come and go the space is used again.
constexpr int64_t kSlackPages = (int64_t{64} << 20) / kPageBytes;
constexpr int64_t kMostInUse = 8;  // a part of this many

constexpr std::string_view kSchema[] = {
    "CREATE TABLE state(id INTEGER PRIMARY KEY CHECK(id = 1), next_key INTEGER NOT NULL)",
    "CREATE TABLE pending(key INTEGER PRIMARY KEY, head BLOB NOT NULL, digest BLOB NOT NULL, submission BLOB NOT NULL)",
    "CREATE TABLE ended(key INTEGER PRIMARY KEY, record BLOB NOT NULL, digest BLOB NOT NULL)",
    "INSERT INTO state VALUES(1, 1)",
};

Error system_error(const std::string& file, std::string what) {
  const int number = errno;
  const ErrorClass error_class = number == ENOENT                       ? ErrorClass::kNotFound
                                 : number == ENOSPC || number == EMFILE ? ErrorClass::kResource
                                                                        : ErrorClass::kIo;
  return Error(error_class, std::move(what) + ": " + std::strerror(number)).in_file(file);
}

// The file, for its owner alone: requests are nobody else's. SQLite gives the log beside it the same mode.
Status make_file(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (fd < 0) return system_error(file, "cannot open the journal");
  struct stat status {};
  const bool known = ::fstat(fd, &status) == 0;
  ::close(fd);
  if (!known || !S_ISREG(status.st_mode)) return Error(ErrorClass::kIo, "the journal is no regular file").in_file(file);
  if (status.st_size >= kLeastBytes) return {};

  // SQLite takes what is shorter than its header for an empty database, and would begin anew. A rollback journal beside
  // it means that the very first write was cut off, which SQLite puts right.
  const auto has_bytes = [&](const char* suffix) {
    struct stat beside {};
    return ::stat((file + suffix).c_str(), &beside) == 0 && beside.st_size != 0;
  };
  if ((status.st_size != 0 && !has_bytes("-journal")) || has_bytes("-wal")) {
    return Error(ErrorClass::kCorrupt,
                 "the journal was cut off or replaced: " + std::to_string(status.st_size) + " bytes are left")
        .in_file(file);
  }
  const std::string directory = std::filesystem::path(file).parent_path().string();
  const int directory_fd = ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_fd < 0) return system_error(file, "cannot open the journal's directory");
  const bool synced = ::fsync(directory_fd) == 0;
  ::close(directory_fd);
  if (!synced) return system_error(file, "cannot write the journal's directory");
  return {};
}

int64_t sql_key(JobKey key) {
  CUZK_ASSERT(key < kMostKeys);
  return static_cast<int64_t>(key);
}

}  // namespace

struct Journal::Database {
  explicit Database(const std::string& file) : connection(file) {}

  Status open_statements();
  Status create_tables();
  Status check_tables();
  // Gives pages that hold nothing back to the disk, where that is worth it.
  Status shrink();
  Status reserve_keys(JobKey below);

  SqliteDatabase connection;
  SqliteStatement begin, commit, rollback, accept, remove_pending, put_ended, remove_ended, put_next_key, free_pages;
};

Status Journal::Database::open_statements() {
  const std::pair<SqliteStatement*, std::string_view> statements[] = {
      {&begin, "BEGIN IMMEDIATE"},
      {&commit, "COMMIT"},
      {&rollback, "ROLLBACK"},
      {&accept,
       "INSERT OR IGNORE INTO pending SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM ended WHERE key = ?1)"},
      {&remove_pending, "DELETE FROM pending WHERE key = ?1"},
      {&put_ended, "INSERT OR REPLACE INTO ended VALUES(?1, ?2, ?3)"},
      {&remove_ended, "DELETE FROM ended WHERE key = ?1"},
      {&put_next_key, "UPDATE state SET next_key = ?1"},
      {&free_pages, "PRAGMA freelist_count"},
  };
  for (const auto& [statement, sql] : statements) {
    CUZK_ASSIGN(*statement, connection.prepare(sql));
  }
  return {};
}

Status Journal::Database::create_tables() {
  CUZK_TRY(connection.run("BEGIN IMMEDIATE"));
  for (const std::string_view sql : kSchema) CUZK_TRY(connection.run(sql));
  CUZK_TRY(connection.run("PRAGMA application_id = " + std::to_string(kApplicationId)));
  CUZK_TRY(connection.run("PRAGMA user_version = " + std::to_string(kVersion)));
  return connection.run("COMMIT");
}

Status Journal::Database::check_tables() {
  const auto damaged = [this](ErrorClass error_class, std::string message) {
    return Error(error_class, std::move(message)).in_file(connection.file());
  };
  CUZK_ASSIGN(const int64_t application, connection.integer("PRAGMA application_id"));
  CUZK_ASSIGN(const int64_t version, connection.integer("PRAGMA user_version"));
  CUZK_ASSIGN(const int64_t tables, connection.integer("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && version == 0 && tables == 0) return create_tables();
  if (application != kApplicationId) return damaged(ErrorClass::kCorrupt, "a database of another program");
  if (version > kVersion) {
    return damaged(ErrorClass::kUnsupported, "a journal of version " + std::to_string(version) +
                                                 ", newer than this program's " + std::to_string(kVersion));
  }
  if (version != kVersion) return damaged(ErrorClass::kCorrupt, "no version of a journal");
  CUZK_ASSIGN(SqliteStatement check, connection.prepare("PRAGMA quick_check(1)"));
  CUZK_ASSIGN(const bool row, check.step());
  if (!row || check.blob(0) != "ok") {
    return damaged(ErrorClass::kCorrupt, "the journal is damaged: " + std::string(row ? check.blob(0) : "no check"));
  }
  return {};
}

Status Journal::Database::shrink() {
  CUZK_ASSIGN(const bool row, free_pages.step());
  const int64_t free = row ? free_pages.integer(0) : 0;
  free_pages.reset();
  if (free <= kSlackPages) return {};
  CUZK_ASSIGN(const int64_t pages, connection.integer("PRAGMA page_count"));
  if ((pages - free) > pages / kMostInUse) return {};
  const int64_t spare = std::min(free - kSlackPages, kSlackPages);  // so that one call does not take long
  return connection.run("PRAGMA incremental_vacuum(" + std::to_string(spare) + ")");
}

Status Journal::Database::reserve_keys(JobKey below) {
  put_next_key.bind(1, sql_key(below));
  return put_next_key.run();
}

Journal::Journal(std::string file) : file_(std::move(file)), database_(std::make_unique<Database>(file_)) {}

Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::open(const JournalOptions& options) {
  CUZK_TRY(make_file(options.file));
  std::unique_ptr<Journal> journal(new Journal(options.file));
  CUZK_TRY(journal->prepare(options.max_bytes));
  return journal;
}

Status Journal::prepare(uint64_t max_bytes) {
  SqliteDatabase& connection = database_->connection;
  CUZK_TRY(connection.open());
  // Alone, so that the log needs no shared memory and a second daemon gets an error; a predecessor that is being killed
  // has a second to go. Sizes count for a new file only. Requests are no secrets: freed pages are not overwritten.
  for (const char* setting :
       {"busy_timeout = 1000", "locking_mode = EXCLUSIVE", "page_size = 16384", "auto_vacuum = INCREMENTAL",
        "secure_delete = OFF", "synchronous = FULL", "temp_store = MEMORY", "cell_size_check = ON",
        "trusted_schema = OFF", "journal_size_limit = 67108864"}) {
    CUZK_TRY(connection.run(std::string("PRAGMA ") + setting));
  }
  {
    CUZK_ASSIGN(SqliteStatement mode, connection.prepare("PRAGMA journal_mode = WAL"));
    CUZK_ASSIGN(const bool row, mode.step());
    if (!row || mode.blob(0) != "wal") {
      return Error(ErrorClass::kIo, "this file system cannot hold a write-ahead log").in_file(file_);
    }
  }
  CUZK_TRY(database_->check_tables());
  if (max_bytes != 0) {
    const uint64_t pages = std::max<uint64_t>(max_bytes / kPageBytes, 16);
    CUZK_TRY(connection.run("PRAGMA max_page_count = " + std::to_string(pages)));
  }
  CUZK_TRY(database_->open_statements());

  CUZK_ASSIGN(const int64_t next, connection.integer("SELECT next_key FROM state"));
  CUZK_ASSIGN(const int64_t largest, connection.integer("SELECT max(ifnull((SELECT max(key) FROM pending), 0), "
                                                        "ifnull((SELECT max(key) FROM ended), 0))"));
  if (next < 1 || largest < 0 || static_cast<JobKey>(std::max(next, largest)) > kMostKeys - kKeysAhead) {
    return Error(ErrorClass::kCorrupt, "the journal's next key is wrong: " + std::to_string(next)).in_file(file_);
  }
  first_key_ = static_cast<JobKey>(std::max(next, largest + 1));
  reserved_keys_ = first_key_ + kKeysAhead;
  return transaction([this](Database& database) { return database.reserve_keys(reserved_keys_); });
}

template <class Work>
Status Journal::transaction(Work work) {
  std::lock_guard lock(mutex_);
  if (!database_) return Error(ErrorClass::kUsage, "the journal is closed").in_file(file_);
  const JobKey reserved_before = reserved_keys_;
  const auto undo = [&] {
    reserved_keys_ = reserved_before;
    (void)database_->rollback.run();  // fails where SQLite has rolled back by itself, which is as good
  };
  CUZK_TRY(database_->begin.run());
  try {
    Status status = work(*database_);
    if (status.ok()) status = database_->commit.run();
    if (!status.ok()) undo();
    return status;
  } catch (...) {  // memory ran out; a transaction that stayed open would be the journal's end
    undo();
    throw;
  }
}

Result<Journal::Recovered> Journal::recover() {
  Recovered recovered;
  // `decode` makes a job of a row, whose first column is the key.
  const auto read = [&](Database& database, std::string_view sql, auto& jobs, auto decode) -> Status {
    CUZK_ASSIGN(SqliteStatement rows, database.connection.prepare(sql));
    for (;;) {
      CUZK_ASSIGN(const bool row, rows.step());
      if (!row) return {};
      const auto key = static_cast<JobKey>(rows.integer(0));
      auto job = decode(key, rows);
      if (job.ok()) {
        jobs.push_back(std::move(*job));
      } else {
        recovered.damaged.emplace_back(key, std::move(job).error());
        recovered.damaged.back().second.file = file_;
      }
    }
  };
  const Status all_read = transaction([&](Database& database) -> Status {
    CUZK_TRY(read(database, "SELECT key, head, submission, digest FROM pending ORDER BY key", recovered.pending,
                  [](JobKey key, const SqliteStatement& row) {
                    return decode_pending(key, row.blob(1), row.blob(2), row.blob(3));
                  }));
    return read(database, "SELECT key, record, digest FROM ended ORDER BY key", recovered.ended,
                [](JobKey key, const SqliteStatement& row) { return decode_ended(key, row.blob(1), row.blob(2)); });
  });
  CUZK_TRY(all_read);
  return recovered;
}

Status Journal::accept(JobKey key, const std::string& job_id, const Submission& submission, const PayloadDigest& digest,
                       std::chrono::system_clock::time_point accepted) {
  const PendingRecord record = encode_pending(key, job_id, submission, digest, accepted);
  return transaction([&](Database& database) -> Status {
    database.accept.bind(1, sql_key(key));
    database.accept.bind(2, record.head);
    database.accept.bind(3, record.digest);
    database.accept.bind(4, record.submission);
    CUZK_TRY(database.accept.run());
    if (key + kKeysAhead / 2 < reserved_keys_) return {};
    reserved_keys_ = key + kKeysAhead;
    return database.reserve_keys(reserved_keys_);
  });
}

Status Journal::finish(JobKey key, ProofKind kind, Priority priority, const PayloadDigest& digest,
                       const JobResult& result, std::chrono::system_clock::time_point ended) {
  const EndedRecord record = encode_ended({key, kind, priority, digest, result, ended});
  return transaction([&](Database& database) -> Status {
    database.remove_pending.bind(1, sql_key(key));
    CUZK_TRY(database.remove_pending.run());
    database.put_ended.bind(1, sql_key(key));
    database.put_ended.bind(2, record.record);
    database.put_ended.bind(3, record.digest);
    CUZK_TRY(database.put_ended.run());
    return database.shrink();
  });
}

Status Journal::forget(std::span<const JobKey> keys) {
  if (keys.empty()) return {};
  return transaction([&](Database& database) -> Status {
    for (const JobKey key : keys) {
      for (SqliteStatement* remove : {&database.remove_pending, &database.remove_ended}) {
        remove->bind(1, sql_key(key));
        CUZK_TRY(remove->run());
      }
    }
    return database.shrink();
  });
}

Status Journal::close(JobKey next_key) {
  CUZK_ASSERT(next_key >= first_key_);
  CUZK_TRY(transaction([&](Database& database) { return database.reserve_keys(next_key); }));
  std::lock_guard lock(mutex_);
  database_.reset();  // writes the log into the database; what fails of that is done at the next start
  return {};
}

}  // namespace cuzk
