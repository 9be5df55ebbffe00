// The public surface, by name.
import type { ProgramMigrations } from 'millrace'

export {
  type BufferEvents,
  type Buffered,
  type BufferOptions,
  type BufferState,
  createBuffer,
  type Settled,
  SpikeBuffer,
} from './buffer/buffer.ts'
export type { Mover, MoverOptions, MoverPass } from './buffer/mover.ts'
export type { MovedEntry, Rejection } from './buffer/transfer.ts'
export { type Cache, type CacheOptions, type CacheReads, createCache } from './cache/cache.ts'
export {
  type RecentAnswers,
  type RecentOptions,
  type RecentResults,
  type RecentRun,
  recentAnswers,
  recentResults,
} from './cache/recent.ts'
export { connectRedis, Redis, type RedisOptions, type RedisState } from './connection/connect.ts'
export type { Durability, RedisFacts } from './connection/facts.ts'
export { createDedupe, type Dedupe, type DedupeOptions, type Seen } from './dedupe/dedupe.ts'
export {
  BufferFull,
  BufferUnavailable,
  InvalidRedisOption,
  LockBusy,
  LockLost,
  LockUnavailable,
  RedisError,
  type RedisErrorCode,
  RedisRefused,
  RedisUnavailable,
  RedisUnknown,
} from './errors.ts'
export { createLocks, type Lock, type LockOptions, type Locks, type LocksOptions } from './locks/locks.ts'
export type { LostRow, RejectedEntry } from './store/buffer-store.ts'

/** The tables of the buffer and the locks: for Workload.migrations, or migrateProgram. */
export const redisMigrations: ProgramMigrations = {
  schema: 'millrace_redis',
  folder: new URL('../migrations/', import.meta.url),
}
