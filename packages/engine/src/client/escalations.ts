// What people and programs do with escalations: raise one, resolve it, look, acknowledge, send again.
import type { Clock } from '../clock.ts'
import { InvalidDefinition } from '../errors.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database, Session } from '../store/db.ts'
import {
  ESCALATION_QUEUE,
  type EscalationFilter,
  type EscalationSeverity,
  type EscalationStanding,
  escalationAcknowledge,
  escalationList,
  escalationResend,
  escalationResolve,
  escalationStanding,
  escalationWrite,
  type ListedEscalation,
} from '../store/escalations.ts'
import { isJobId } from '../store/job-id.ts'
import type { Queryable } from '../store/statements.ts'
import { sessionOn } from '../store/transaction.ts'
import { author } from './enqueue-options.ts'
import { EscalationOutbox } from './escalation-outbox.ts'

/** A fault that people have to be told of. */
export interface Fault {
  /** What it is the same fault by, at most 255 characters: while it is open, it is not written again. */
  key: string
  severity: EscalationSeverity
  /** One sentence, at most 1024 characters: 'The breaker of email-service is open for 10 minutes.' */
  summary: string
  /** Queues that it concerns: it goes where their policies say. Without a policy it goes to the deliverer's ops channel. */
  queues?: readonly string[]
  /** It goes to the owner of the first queue instead. Default 'policy'. */
  to?: 'policy' | 'owner'
  /** Plain facts for the message. No payloads. */
  details?: Readonly<Record<string, unknown>>
}

export interface EscalateOptions {
  /** It is written exactly if this transaction commits. */
  tx?: Queryable
}

export type AcknowledgedEscalation = { status: 'acknowledged' | 'already_acknowledged' | 'not_found'; id: string }

const MAX_PAGE = 1_000

export class Escalations {
  /** For the package that delivers. */
  readonly outbox: EscalationOutbox
  readonly #db: Database
  readonly #clock: Clock

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
    this.outbox = new EscalationOutbox(db, clock)
  }

  /**
   * Puts a fault into the outbox. False: it is open already, nobody delivers on this database, or it is about the delivery
   * itself.
   */
  async escalate(fault: Fault, options: EscalateOptions = {}): Promise<boolean> {
    const { key, severity, summary, queues = [], to = 'policy', details = {} } = fault
    demandText(key, 'key', 255)
    demandText(summary, 'summary', 1_024)
    const concerned = queues.filter((queue) => queue !== ESCALATION_QUEUE)
    if (queues.length > 0 && concerned.length === 0) return false
    const row = { kind: 'alert', key, severity, summary, details, toOwner: to === 'owner' } as const
    const now = this.#clock.databaseNow()
    return (await escalationWrite(this.#session(options), now, { ...row, queues: concerned })).length > 0
  }

  /** The fault is gone: its channel is told. False: it was not open. */
  async resolve(key: string, options: EscalateOptions = {}): Promise<boolean> {
    return (await escalationResolve(this.#session(options), this.#clock.databaseNow(), [key])).length > 0
  }

  /** A page, newest first. For the next one pass the id of its last one as `before`. Default 50, at most 1000. */
  async list({ limit = 50, ...filter }: EscalationFilter & { limit?: number } = {}): Promise<ListedEscalation[]> {
    if (filter.before !== undefined && !isJobId(filter.before))
      throw new InvalidDefinition(`before is ${JSON.stringify(filter.before)}: expected the id of an escalation.`)
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
      throw new InvalidDefinition(`limit is ${limit}: expected an integer from 1 to ${MAX_PAGE}.`)
    return escalationList(this.#db, filter, limit)
  }

  async get(id: string): Promise<ListedEscalation | undefined> {
    return isJobId(id) ? (await escalationList(this.#db, { ids: [id] }, 1))[0] : undefined
  }

  /** Somebody looks after it: it is no longer overdue, nor is any other open escalation with the same key. */
  async acknowledge(ids: string | readonly string[], options: { by: string }): Promise<AcknowledgedEscalation[]> {
    const by = author(options.by)
    const wanted = listOf(ids)
    const valid = wanted.filter(isJobId)
    const known = new Set((await escalationList(this.#db, { ids: valid }, MAX_PAGE)).map(({ id }) => id))
    const changed = await this.#db.transaction(async (tx) => {
      const now = this.#clock.databaseNow()
      const won = await escalationAcknowledge(tx, now, { ids: valid, by })
      await auditWrite(tx, now, ...won.map((target) => ({ by, action: 'escalation.acknowledge', target })))
      return new Set(won)
    })
    return wanted.map((id) => {
      if (!known.has(id)) return { status: 'not_found', id }
      return { status: changed.has(id) ? 'acknowledged' : 'already_acknowledged', id }
    })
  }

  /** Sends escalations again, also such as their channel had refused. Answers with those that exist. */
  async resend(ids: string | readonly string[], options: { by: string }): Promise<string[]> {
    const by = author(options.by)
    return this.#db.transaction(async (tx) => {
      const sent = await escalationResend(tx, listOf(ids).filter(isJobId))
      const now = this.#clock.databaseNow()
      await auditWrite(tx, now, ...sent.map((target) => ({ by, action: 'escalation.resend', target })))
      return sent
    })
  }

  /** Writes a test message for a channel of the deliverer. Undefined: no worker on this database has ever delivered. */
  async test(channel: string, options: { by: string }): Promise<string | undefined> {
    const by = author(options.by)
    demandText(channel, 'channel', 200)
    const now = this.#clock.databaseNow()
    const [id] = await escalationWrite(this.#db, now, {
      kind: 'test',
      key: `test/${by}/${Date.now()}`.slice(0, 255),
      severity: 'info',
      summary: `This is a test of the channel ${channel}, asked for by ${by}.`.slice(0, 1_024),
      queues: [],
      toOwner: false,
      details: { by, channel },
    })
    return id
  }

  /** How delivery stands: what waits, what was refused, what nobody has acknowledged in time, and who delivers. */
  standing(): Promise<EscalationStanding> {
    return escalationStanding(this.#db, this.#clock.databaseNow())
  }

  #session({ tx }: EscalateOptions): Session {
    return tx === undefined ? this.#db : sessionOn(tx, this.#db.schema)
  }
}

const listOf = (ids: string | readonly string[]): readonly string[] => (typeof ids === 'string' ? [ids] : ids)

function demandText(text: string, what: string, longest: number): void {
  if (typeof text === 'string' && text !== '' && text.length <= longest && !text.includes('\u0000')) return
  throw new InvalidDefinition(
    `${what} is ${JSON.stringify(text)?.slice(0, 80)}: expected a text of 1 to ${longest} characters.`,
  )
}
