// What a client is made of, wired in one place: its areas, its workers and millrace/testing all work with these.
import type pg from 'pg'
import { Enqueuer } from './client/enqueuer.ts'
import { Herald } from './client/herald.ts'
import { JobManager } from './client/manage.ts'
import { Notices } from './client/notices.ts'
import { Waker } from './client/waker.ts'
import type { Clock } from './clock.ts'
import { KeyRing } from './contract/key-ring.ts'
import type { LetterRetention } from './contract/letter-retention.ts'
import { Registry } from './contract/registry.ts'
import { Events } from './events.ts'
import { Admitter } from './governance/admitter.ts'
import type { Logger } from './logger.ts'
import { clientSettings, type MillraceOptions } from './millrace-options.ts'
import { DeclaredSchedules } from './schedule/schedules.ts'
import { ConnectGate } from './store/connect-gate.ts'
import { Database } from './store/db.ts'
import { Advancer } from './workflow/advancer.ts'
import { Definitions } from './workflow/definitions.ts'

export interface ClientServices {
  db: Database
  connection: pg.ClientConfig
  maxConnections: number
  isNotifyEnabled: boolean
  tenantRole: string | undefined
  version: string | null
  letterRetention: LetterRetention | null
  clock: Clock
  logger: Logger
  events: Events
  registry: Registry
  declared: DeclaredSchedules
  definitions: Definitions
  notices: Notices
  waker: Waker
  herald: Herald
  admitter: Admitter
  enqueuer: Enqueuer
  jobs: JobManager
  insertSteps: Enqueuer['insertSteps']
  advancer: Advancer
  /** More connections to the same database. The caller closes them. */
  open(maxConnections: number): Database
}

export function clientServices(options: MillraceOptions): ClientServices {
  const { schema, ...settings } = clientSettings(options)
  const { connection, clock, isNotifyEnabled: isEnabled } = settings
  const gate = new ConnectGate()
  const open = (maxConnections: number) => new Database({ connection, schema, maxConnections, gate })
  const declarations = declarationsOf(options)
  const db = open(settings.maxConnections)
  const events = new Events({ listen: () => notices.listen(), raised: (...event) => notices.raised(...event) })
  const onError = (during: string, error: unknown) => events.emit('database_error', { during, error })
  const notices = new Notices({ db, events, onError })
  const waker = new Waker(db, { isEnabled })
  const wake: Waker['wake'] = (...work) => waker.wake(...work)
  const herald = new Herald({ db, events }, { isEnabled })
  const admitter = new Admitter({ db, clock, wake, onError })
  const services = { ...settings, ...declarations, db, events, notices, waker, herald, admitter, open }
  const enqueuer = new Enqueuer(services)
  const insertSteps = enqueuer.insertSteps.bind(enqueuer)
  const jobs = new JobManager({ ...services, onStepsEnded: (ids) => void advancer.heard(ids) })
  const advancer = new Advancer({
    ...services,
    insertSteps,
    wake,
    admit: (keys) => admitter.admit(keys),
    cancel: (...args) => jobs.cancelMany(...args),
    tell: (ids) => waker.tellWorkflows(ids),
    onError,
  })
  return { ...services, enqueuer, jobs, insertSteps, advancer }
}

/** What the program's code says: contracts, schedules, workflows. */
function declarationsOf({ jobs, workflows = [], schedules = [], encryption }: MillraceOptions) {
  const definitions = new Definitions(workflows, (type) => registry.get(type))
  const registry = new Registry([...jobs, ...definitions.contracts], encryption && new KeyRing(encryption))
  return { definitions, registry, declared: new DeclaredSchedules(schedules, registry) }
}
