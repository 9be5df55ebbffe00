// What `millrace dev` and `millrace work` run. Only types: a workload needs no command line to be imported or tested.
import type { Page, Route } from '@millrace/admin'
import type { Escalation } from '@millrace/escalation'
import type { DefinedMetric } from '@millrace/telemetry'
import type {
  AlertOptions,
  Implementation,
  JobContract,
  Logger,
  Middleware,
  Millrace,
  ProgramMigrations,
  Schedule,
  Worker,
  WorkflowDefinition,
  WorkSettings,
} from 'millrace'

export interface Workload {
  /** For people: printed at the start and in the health answers. */
  readonly name: string
  /** Of the program, such as '1.4.2' or a commit: the catalogue shows it. */
  readonly version?: string
  /** Every contract that this program enqueues or runs. */
  readonly jobs: readonly JobContract[]
  readonly handlers: readonly Implementation[]
  /** Called around every run, the first outermost: tracing, error reports, dependencies. */
  readonly middleware?: readonly Middleware[]
  /** What its workers enqueue at given times. */
  readonly schedules?: readonly Schedule[]
  /** Every workflow that this program starts or carries on. The contracts of their steps need not be listed in `jobs`. */
  readonly workflows?: readonly WorkflowDefinition[]
  /**
   * Tells people about dead jobs and alerts: see defineEscalation. `dev` and `work` deliver, whatever queues they serve
   * besides; other programs need not know it.
   */
  readonly escalation?: Escalation
  /** Lanes, timeouts, memory limits, lease and the like of its workers; WORKER_* variables and options override them. */
  readonly settings?: WorkSettings
  /** What it measures itself, made by defineCounter, defineGauge and defineHistogram: on the page of /metrics. */
  readonly metrics?: readonly DefinedMetric[]
  /** Alerts of its own, and other thresholds for built-in ones. */
  readonly alerts?: AlertOptions
  /** Operations of its own, made by `route(endpoint({ … }), handle)` of @millrace/admin. `dev` and `admin` serve them. */
  readonly routes?: readonly Route[]
  /** Pages of its own: a path and everything below it. `dev` and `admin` serve them. */
  readonly pages?: readonly Page[]
  /** The role of ctx.tenantDb, if handlers use it. */
  readonly tenantRole?: string
  /**
   * The workload's own tables: one set of migration files, or several, each with a schema of its own. `dev` applies them,
   * elsewhere `millrace migrate MODULE` does, and `work` refuses to start while one is missing.
   */
  readonly migrations?: ProgramMigrations | readonly ProgramMigrations[]
  /** Whatever else must be there before the start of `dev`. Runs each time, after the migrations: safe to repeat. */
  setup?(context: SetupContext): Promise<void>
  /** Starts what runs beside the worker: servers that handlers call, producers. Complete before the first job starts. */
  start?(context: StartContext): Promise<Started>
  /** Runs when the worker has started, for what needs one at work. Not called where no worker runs. */
  ready?(context: ReadyContext): Promise<void>
}

export interface SetupContext {
  readonly databaseUrl: string
}

export interface StartContext {
  readonly millrace: Millrace
  readonly logger: Logger
  readonly databaseUrl: string
  /** The command that started it: `admin` runs no jobs. */
  readonly mode: 'dev' | 'work' | 'admin'
  /** The queues that this process serves: all of the handlers', or those of `--queues`. */
  readonly queues: readonly string[]
  /** Adds a line to what is printed at the start and answered at `/`, such as ('Village', 'http://…/village'). */
  announce(label: string, value: string): void
}

export interface ReadyContext extends StartContext {
  readonly worker: Worker
}

export interface Started {
  /** Called when the worker has stopped: handlers may count on what was started until they have returned. */
  stop(): Promise<void>
}
