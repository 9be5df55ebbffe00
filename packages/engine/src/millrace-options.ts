// What a program says of its client, and what holds where it says nothing.
import type pg from 'pg'
import { label } from './client/enqueue-options.ts'
import { type Clock, systemClock } from './clock.ts'
import type { JobContract } from './contract/job.ts'
import type { EncryptionOptions } from './contract/key-ring.ts'
import { type LetterRetention, type LetterRetentionOptions, letterRetention } from './contract/letter-retention.ts'
import { type Logger, stderrLogger } from './logger.ts'
import type { Schedule } from './schedule/define.ts'
import { connectionOf } from './store/connection-config.ts'
import type { WorkflowDefinition } from './workflow/definition.ts'

export interface MillraceOptions {
  /**
   * A connection string, or what `pg` takes. The password may be a function, for tokens that expire: it is asked at every
   * connect. The rest must be plain data, because it is passed on to a thread.
   */
  database: string | pg.ClientConfig
  /** Every contract this program enqueues or runs. */
  jobs: readonly JobContract[]
  /** What its workers enqueue at given times: see defineSchedule. */
  schedules?: readonly Schedule[]
  /** Every workflow this program starts or carries on. Their contracts need not be listed again. */
  workflows?: readonly WorkflowDefinition[]
  /** Of your program, such as '1.4.2' or a commit: the catalogue shows it. */
  version?: string | undefined
  /** Of Millrace's tables: at most 63 bytes, without apostrophes and control characters. Default 'millrace'. */
  schema?: string
  /**
   * Connections at most for enqueueing, and as many again for the transactions of a worker's handlers. A worker needs
   * four more for itself, and two if its jobs are charged to budgets. Default 10.
   */
  maxConnections?: number
  /**
   * Use NOTIFY. Off: workers elsewhere find work at their next poll, up to a minute later, and results from elsewhere are
   * found by polling, up to 1 s later. Default true.
   */
  notify?: boolean
  /**
   * The role under which ctx.tenantDb runs a handler's queries: without login, without rights on Millrace's tables, bound
   * by row-level security. Checked when a worker starts.
   */
  tenantRole?: string | undefined
  /** Default: warnings and errors as JSON lines on stderr. A pino instance fits. */
  logger?: Logger
  /** The keys of job types that are `sensitive`. */
  encryption?: EncryptionOptions
  /** How long dead letters are kept that were resolved or ignored. Default: 7 days from the decision. */
  deadLetters?: LetterRetentionOptions
  /** For tests that move time. */
  clock?: Clock
}

/** How a client is connected and what it is given from outside. */
export interface ClientSettings {
  readonly connection: pg.ClientConfig
  readonly schema: string
  readonly maxConnections: number
  readonly isNotifyEnabled: boolean
  readonly tenantRole: string | undefined
  readonly version: string | null
  readonly clock: Clock
  readonly logger: Logger
  readonly letterRetention: LetterRetention | null
}

export function clientSettings(options: MillraceOptions): ClientSettings {
  const { database } = options
  return {
    connection: connectionOf(database),
    schema: options.schema ?? 'millrace',
    maxConnections: options.maxConnections ?? 10,
    isNotifyEnabled: options.notify ?? true,
    tenantRole: options.tenantRole,
    version: label(options.version ?? null, 'version'),
    clock: options.clock ?? systemClock,
    logger: options.logger ?? stderrLogger,
    letterRetention: letterRetention(options.deadLetters),
  }
}
