#include "queue/sqlite.hpp"

#include <sqlite3.h>

#include <cstring>
#include <utility>

namespace cuzk {
namespace {

ErrorClass class_of(int result) {
  switch (result & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG: return ErrorClass::kResource;
    case SQLITE_IOERR: return result == SQLITE_IOERR_NOMEM ? ErrorClass::kResource : ErrorClass::kIo;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_NOLFS: return ErrorClass::kIo;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorClass::kCorrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorClass::kUsage;
    default: return ErrorClass::kInternal;
  }
}

}  // namespace

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bind_result_(other.bind_result_) {}

SqliteStatement& SqliteStatement::operator=(SqliteStatement&& other) noexcept {
  if (this != &other) {
    finalize();
    database_ = other.database_;
    statement_ = std::exchange(other.statement_, nullptr);
    bind_result_ = other.bind_result_;
  }
  return *this;
}

SqliteStatement::~SqliteStatement() { finalize(); }

void SqliteStatement::finalize() {
  sqlite3_finalize(statement_);  // its result repeats that of the last step
  statement_ = nullptr;
}

void SqliteStatement::bind(int parameter, int64_t value) {
  const int result = sqlite3_bind_int64(statement_, parameter, value);
  if (bind_result_ == SQLITE_OK) bind_result_ = result;
}

void SqliteStatement::bind(int parameter, std::string_view blob) {
  // A null pointer would bind NULL.
  const char* data = blob.data() != nullptr ? blob.data() : "";
  const int result = sqlite3_bind_blob64(statement_, parameter, data, blob.size(), SQLITE_STATIC);
  if (bind_result_ == SQLITE_OK) bind_result_ = result;
}

Result<bool> SqliteStatement::step() {
  const int result = bind_result_ != SQLITE_OK ? bind_result_ : sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) {
    reset();
    return false;
  }
  // Also where there is no memory for the words of the error: one that was not reset takes no values any more.
  struct Reset {
    SqliteStatement& statement;
    ~Reset() { statement.reset(); }
  };
  const Reset at_end{*this};
  return database_->error(result);
}

Status SqliteStatement::run() {
  for (;;) {
    CUZK_ASSIGN(const bool row, step());
    if (!row) return {};
  }
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bind_result_ = SQLITE_OK;
}

int64_t SqliteStatement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view SqliteStatement::blob(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  return {static_cast<const char*>(data), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close_v2(connection_); }

Status SqliteDatabase::open() {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int result = sqlite3_open_v2(file_.c_str(), &connection_, flags, nullptr);
  if (result != SQLITE_OK) return error(result);
  return {};
}

Status SqliteDatabase::close() {
  const int result = sqlite3_close(connection_);
  if (result != SQLITE_OK) return error(result);
  connection_ = nullptr;
  return {};
}

Result<SqliteStatement> SqliteDatabase::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (result != SQLITE_OK) return error(result);
  return SqliteStatement(this, statement);
}

Status SqliteDatabase::run(std::string_view sql) {
  CUZK_ASSIGN(SqliteStatement statement, prepare(sql));
  return statement.run();
}

Result<int64_t> SqliteDatabase::integer(std::string_view sql) {
  CUZK_ASSIGN(SqliteStatement statement, prepare(sql));
  CUZK_ASSIGN(const bool row, statement.step());
  if (!row) return Error(ErrorClass::kCorrupt, "a value is missing").in_file(file_);
  return statement.integer(0);
}

Error SqliteDatabase::error(int result) const {
  const ErrorClass error_class = class_of(result);
  std::string message =
      error_class == ErrorClass::kUsage ? "another process, perhaps another daemon, has this file open: " : "";
  message += connection_ != nullptr && sqlite3_extended_errcode(connection_) == result ? sqlite3_errmsg(connection_)
                                                                                       : sqlite3_errstr(result);
  const int system = connection_ != nullptr ? sqlite3_system_errno(connection_) : 0;
  if (error_class == ErrorClass::kIo && system != 0) message += std::string(", ") + std::strerror(system);
  return Error(error_class, std::move(message)).in_file(file_);
}

}  // namespace cuzk
