// A run as the process of an isolated handler knows it, and the context that its handler gets.
import { type EnqueueOptions, newJob, type PreparedJob } from '../../client/enqueue-options.ts'
import type { EnqueueResult } from '../../client/enqueuer.ts'
import { type Clock, monotonicMs } from '../../clock.ts'
import type { JobContract, Retention } from '../../contract/job.ts'
import { checkedProgress } from '../../contract/progress.ts'
import { sealedValue } from '../../contract/sealed.ts'
import { countsAgainst, type Service } from '../../contract/service.ts'
import { InvalidDefinition, LeaseLost } from '../../errors.ts'
import { storable } from '../../failure.ts'
import { callThrough, type Door } from '../../governance/breaker-call.ts'
import type { BudgetStatus } from '../../governance/budget-status.ts'
import type { RecordVault } from '../../governance/once.ts'
import type { Logger } from '../../logger.ts'
import type { Database } from '../../store/db.ts'
import type { Settlement } from '../../store/settlements.ts'
import type { CompletableRun } from '../completion.ts'
import type { JobContext } from '../context.ts'
import { Effects } from '../effects.ts'
import { noBudget, PortedBudget, type RunBudget } from '../run-budget.ts'
import { type BudgetCall, callingPort } from './budget-call.ts'
import { encodeThrown, isSendable, sendableFields, withoutFields } from './encoding.ts'
import type { AboutRun, DoorStep, RunFacts, RunRequest, SentRecord, SentService } from './protocol.ts'

/** What a run can say to the worker. */
type Saying = AboutRun extends infer Message ? (Message extends AboutRun ? Omit<Message, 'runId'> : never) : never

const MAX_LOG_MESSAGE = 10_000

export interface ChildRunServices {
  db: Database
  tenantRole: string | undefined
  /** Tells the worker, and throws what cannot be sent. */
  tell(message: AboutRun): void
  /** Asks the worker how this value would be settled. */
  settlementOf(runId: string, value: unknown): Promise<Settlement>
  askBudget(runId: string, call: BudgetCall): Promise<unknown>
  /** Has the worker write a job. */
  askEnqueue(runId: string, prepared: PreparedJob): Promise<EnqueueResult>
  /** Has the worker encrypt or decrypt what the handler records. */
  askVault(runId: string, kind: 'seal' | 'open', record: SentRecord): Promise<string>
  /** Has the worker do this at the breaker of a service. */
  askBreaker(runId: string, service: SentService, step: DoorStep): Promise<void>
}

export class ChildRun implements CompletableRun {
  readonly facts: RunFacts
  readonly fence: { id: string; runId: string }
  readonly contract: { retention: Retention; allowSecrets: readonly string[] }
  readonly stuckAtMs: number
  isCommitted = false
  readonly #services: ChildRunServices
  readonly #clock: Clock
  readonly #controller = new AbortController()
  readonly #budget: BudgetStatus | undefined
  readonly #isSensitive: boolean
  #inTransaction: Settlement | undefined
  #isOver = false

  constructor(request: RunRequest, services: ChildRunServices) {
    const { facts, retention, allowSecrets, stuckInMs, databaseNow } = request
    this.#budget = request.budget
    this.#isSensitive = request.isSensitive
    this.facts = facts
    this.fence = { id: facts.jobId, runId: facts.runId }
    this.contract = { retention, allowSecrets }
    this.stuckAtMs = monotonicMs() + stuckInMs
    this.#clock = { databaseNow: () => databaseNow }
    this.#services = services
  }

  get abortReason(): unknown {
    return this.#controller.signal.reason
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  get inTransaction(): Settlement | undefined {
    return this.#inTransaction
  }

  /** Told before COMMIT is sent: whatever becomes of this process then, the worker knows that it must look. */
  set inTransaction(settlement: Settlement | undefined) {
    this.#inTransaction = settlement
    if (settlement !== undefined) this.#tell({ kind: 'in-transaction', settlement })
  }

  /** The handler has returned: what it left behind speaks for nobody. */
  end(): void {
    this.#isOver = true
  }

  context(): JobContext {
    const facts = { ...this.facts, signal: this.#controller.signal, log: this.#logger() }
    const effects = new Effects<ChildRun>({
      db: this.#services.db,
      clock: this.#clock,
      logger: facts.log,
      tenantRole: this.#services.tenantRole,
      settlementOf: async (run, value) => {
        if (run.#isOver) throw new LeaseLost('its handler has returned')
        return this.#services.settlementOf(run.facts.runId, value)
      },
      vault: () => this.#vault(),
    })
    const { completion } = effects
    const context: Omit<JobContext, 'budget'> = {
      ...facts,
      progress: (done, total, note) => this.#tell({ kind: 'progress', progress: checkedProgress(done, total, note) }),
      enqueue: (contract, payload, ...[options = {}]) => this.#enqueue(contract, payload, options),
      transaction: (work) => completion.inOwnTransaction(this, work),
      complete: (tx, result) => completion.in(this, tx, result),
      breaker: (service, call, options) => callThrough(this.#door(service), call, options),
      once: (key, work, options = {}) => effects.once(this, facts, { key, work, options }),
      step: (name, work, { tx } = {}) =>
        effects.step(this, facts, { key: name, work, options: tx === undefined ? {} : { tx } }),
      tenantDb: (work, options = {}) => effects.tenantDb(this, facts, { work, options }),
    }
    // Not enumerable: without a budget it throws, and a handler that copies its context must not meet that.
    return Object.defineProperty(context, 'budget', { get: this.#budgetOpener() }) as JobContext
  }

  /** Checks payload and options here, with the handler's own copy of the contract, as an enqueue in the worker would. */
  async #enqueue(contract: JobContract, payload: unknown, options: EnqueueOptions): Promise<EnqueueResult> {
    const { type, runId, jobId: parentJobId, correlationId } = this.facts
    if (options.tx !== undefined) {
      throw new InvalidDefinition(
        `The handler of job "${type}" is isolated, and the worker enqueues for it: ctx.enqueue cannot be part of { tx }. Leave the option out: the job is written at once.`,
      )
    }
    const prepared = await newJob(contract, payload, { parentJobId, correlationId, ...options })
    if (this.#isOver) throw new LeaseLost('its handler has returned')
    return this.#services.askEnqueue(runId, prepared)
  }

  /** What is not encrypted need not be sent to the worker. */
  #vault(): RecordVault {
    const { runId } = this.facts
    return {
      seal: (place, text) => (this.#isSensitive ? this.#services.askVault(runId, 'seal', { place, text }) : text),
      open: (place, text) =>
        sealedValue(JSON.parse(text)) === undefined ? text : this.#services.askVault(runId, 'open', { place, text }),
    }
  }

  #door(service: Service | string): Door {
    const ask = async (step: DoorStep): Promise<void> => {
      if (this.#isOver) throw new LeaseLost('its handler has returned')
      await this.#services.askBreaker(this.facts.runId, sendableService(service), step)
    }
    return {
      enter: () => ask({ kind: 'enter' }),
      succeeded: () => ask({ kind: 'succeeded' }),
      failed: async (error) => {
        if (typeof service !== 'string' && !countsAgainst(service, error)) return
        const sent = encodeThrown(error)
        await ask({ kind: 'failed', error: isSendable(sent) ? sent : withoutFields(sent) })
      },
    }
  }

  #budgetOpener(): () => RunBudget {
    const { type, runId } = this.facts
    let opened: RunBudget | undefined
    return () => {
      if (this.#budget === undefined) throw noBudget(type)
      const port = callingPort(type, async (call) => {
        if (this.#isOver) throw new LeaseLost('its handler has returned')
        return this.#services.askBudget(runId, call)
      })
      opened ??= new PortedBudget(port, this.#budget)
      return opened
    }
  }

  #logger(): Logger {
    const log = (level: keyof Logger) => (fields: object, message: string) => {
      const sent = isSendable(fields) ? fields : sendableFields(fields)
      this.#tell({ kind: 'log', level, fields: sent, message: storable(String(message), MAX_LOG_MESSAGE) })
    }
    return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  }

  #tell(saying: Saying): void {
    if (!this.#isOver) this.#services.tell({ runId: this.facts.runId, ...saying })
  }
}

function sendableService(service: Service | string): SentService {
  if (typeof service === 'string') return service
  const { name, failures, openForMs, successes } = service
  return { name, failures, openForMs, successes }
}
