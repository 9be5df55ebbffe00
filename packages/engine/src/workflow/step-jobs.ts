// The jobs of a step: what they are given, by the functions of its definition.
import { newJob } from '../client/enqueue-options.ts'
import { edited, protectedJob } from '../client/protect.ts'
import { parseResult } from '../client/results.ts'
import { LIVE } from '../contract/dedupe.ts'
import type { JobContract } from '../contract/job.ts'
import type { Owner } from '../contract/key-ring.ts'
import { parseStored } from '../contract/payload.ts'
import type { Registry } from '../contract/registry.ts'
import { openStored } from '../contract/sealed.ts'
import { EncryptionKeyMissing, InvalidDefinition, NewerPayload, Undecryptable } from '../errors.ts'
import { failureFrom } from '../failure.ts'
import type { Session } from '../store/db.ts'
import type { NewJob } from '../store/jobs.ts'
import { workflowChildren } from '../store/workflow-children.ts'
import { type DoneItem, type WorkflowItem, workflowItemList } from '../store/workflow-items.ts'
import { type LockedWorkflow, type StepRow, workflowLock, workflowStepRows } from '../store/workflows.ts'
import type { JobCounts, StepDefinition, StepScope } from './definition.ts'
import type { Definitions } from './definitions.ts'
import { countsOf } from './standing.ts'
import { dueOf, isMet } from './start-rules.ts'
import { parsedValue, signalledValue } from './stored-values.ts'

export const MAX_ITEMS = 100_000

/** A step cannot start, and trying again would not help. `cause` is what its definition's functions threw. */
export class StepFailed extends Error {
  constructor(cause: unknown) {
    super(failureFrom(cause).message, { cause })
  }
}

export interface StepJob {
  item: number
  job: NewJob
  /** The job that failed before, whose place this one takes. */
  replaces: string | null
}

/** Payloads that a person has written, by step: of a step with many jobs, by the index of the job. */
export type Edits = Readonly<Record<string, unknown>>

export interface StepJobsServices {
  registry: Registry
  definitions: Definitions
}

interface Placed {
  item: number
  payload: unknown
  before: WorkflowItem | undefined
  due: ReturnType<typeof dueOf>
}

interface Given {
  workflow: LockedWorkflow
  steps: ReadonlyMap<string, StepRow>
  edits: Edits
}

export class StepJobs {
  readonly #session: Session
  readonly #services: StepJobsServices
  readonly #given: Given
  readonly #results = new Map<string, unknown>()
  #input: unknown

  constructor(session: Session, services: StepJobsServices, given: Given) {
    this.#session = session
    this.#services = services
    this.#given = given
  }

  /** Whether its condition is met. A step that had jobs before is not asked again. */
  async isWanted(step: StepRow): Promise<boolean> {
    const { when } = this.#definitionOf(step)
    if (when === undefined || step.items !== null) return true
    return this.inScope(step, (_, scope) => isMet(step.name, when, scope))
  }

  /** Calls functions of a step's definition with what they see. */
  async inScope<Value>(
    step: StepRow,
    work: (definition: StepDefinition, scope: StepScope) => Value | Promise<Value>,
  ): Promise<Value> {
    const scope = await this.#scopeOf(step)
    return this.#byAuthor(async () => work(this.#definitionOf(step), scope))
  }

  /** The results of the steps that none comes after, as far as they completed. */
  async last(): Promise<Record<string, unknown>> {
    const steps = [...this.#given.steps.values()]
    const before = new Set(steps.flatMap(({ after }) => Object.keys(after)))
    const last = steps.filter(({ name, status }) => !before.has(name) && status === 'completed')
    await this.#readResults(last)
    return Object.fromEntries(last.map(({ name }) => [name, this.#results.get(name)]))
  }

  /** Those that a step starts with; where it had jobs before, only what these did not do. */
  async doing(step: StepRow): Promise<StepJob[]> {
    const definition = this.#jobsOf(step)
    const items = step.items === null ? [] : await this.#items(step, 'do')
    const past = new Map(items.map((each) => [each.item, each]))
    const scope = await this.#scopeOf(step)
    return this.#byAuthor(async () => {
      const elements = listOf(definition, scope)
      // Whoever resumes a step has waited for it.
      const due = dueOf(step.items === null ? definition.delay : 0, scope)
      const jobs: StepJob[] = []
      for (const [item, element] of elements.entries()) {
        const before = past.get(item)
        if (before?.status === 'completed') continue
        const edit = this.#editOf(step, item)
        const payload =
          edit === undefined ? definition.payload(scope, element, item) : edited(definition.contract, edit)
        jobs.push(await this.#job(definition.contract, { item, payload, before, due }))
      }
      this.#checkEdits(step, jobs)
      return jobs
    })
  }

  /** Those that undo a step: one for each of its jobs that completed, unless that was undone before. */
  async undoing(step: StepRow): Promise<StepJob[]> {
    const { contract, undo } = this.#jobsOf(step)
    const done = await this.#items(step, 'do')
    const past = new Map((await this.#items(step, 'undo')).map((each) => [each.item, each]))
    const scope = await this.#scopeOf(step)
    return this.#byAuthor(async () => {
      if (undo === undefined) throw new Error(`Step "${step.name}" has no \`undo\` any more: declare it again.`)
      const jobs: StepJob[] = []
      for (const doneItem of done) {
        const { item } = doneItem
        const before = past.get(item)
        if (doneItem.status !== 'completed' || before?.status === 'completed') continue
        const edit = this.#editOf(step, item)
        const result = await this.#resultOf(contract, doneItem)
        const given = await this.#payloadOf(contract, doneItem)
        const payload =
          edit === undefined ? undo.payload({ ...scope, payload: given, result }) : edited(undo.contract, edit)
        jobs.push(await this.#job(undo.contract, { item, payload, before, due: { delay: 0 } }))
      }
      this.#checkEdits(step, jobs)
      return jobs
    })
  }

  contractOf(step: StepRow, kind: 'do' | 'undo'): JobContract {
    const { contract, undo } = this.#jobsOf(step)
    return kind === 'undo' && undo !== undefined ? undo.contract : contract
  }

  #definitionOf(step: StepRow): StepDefinition {
    return this.#services.definitions.step(this.#given.workflow, step.name, step.kind)
  }

  #jobsOf(step: StepRow): StepDefinition & { contract: JobContract } {
    return this.#definitionOf(step) as StepDefinition & { contract: JobContract }
  }

  #items(step: StepRow, kind: 'do' | 'undo'): Promise<WorkflowItem[]> {
    return workflowItemList(this.#session, this.#given.workflow.id, [step.position], { kind })
  }

  #editOf({ name, isList }: StepRow, item: number): unknown {
    const edit = this.#given.edits[name]
    return isList ? (edit as Record<number, unknown> | undefined)?.[item] : edit
  }

  /** A payload for a job that does not begin anew would be lost without a word. */
  #checkEdits({ name, isList }: StepRow, jobs: readonly StepJob[]): void {
    const edit = this.#given.edits[name]
    if (!isList || edit === undefined) return
    const begun = new Set(jobs.map(({ item }) => String(item)))
    const wrong = Object.keys(Object(edit)).find((index) => !begun.has(index))
    if (wrong === undefined) return
    throw new InvalidDefinition(
      `resume got a payload for job ${JSON.stringify(wrong)} of step "${name}", which does not begin anew: expected the indexes ${some([...begun])}.`,
    )
  }

  /** What is thrown in here is the author's, and would be thrown again next time. */
  async #byAuthor<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      throw isPassing(error) || error instanceof StepFailed ? error : new StepFailed(error)
    }
  }

  async #job(contract: JobContract, { item, payload, before, due }: Placed): Promise<StepJob> {
    const { id, tenant, priority, correlationId, createdBy, traceParent } = this.#given.workflow
    const prepared = newJob(contract, payload, {
      correlationId,
      ...due,
      ...(tenant === null || contract.tenantOf !== undefined ? {} : { tenant }),
      ...(priority === null ? {} : { priority }),
      ...(createdBy === null ? {} : { createdBy }),
      ...(traceParent === null ? {} : { traceParent }),
    })
    const { job } = prepared instanceof Promise ? await prepared : prepared
    // The step is the job's identity: no other one can take its place, and whoever advances belongs to another job.
    const own = { ...job, dedupKey: null, dedupe: LIVE, parentJobId: null, workflowId: id }
    return { item, job: protectedJob(this.#services.registry, contract, own), replaces: before?.jobId ?? null }
  }

  async #scopeOf(step: StepRow): Promise<StepScope> {
    const { workflow, steps } = this.#given
    const results: Record<string, unknown> = {}
    const counts: Record<string, JobCounts> = {}
    const parents = Object.keys(step.after).flatMap((name) => steps.get(name) ?? [])
    await this.#readResults(parents.filter(({ name }) => !this.#results.has(name)))
    for (const parent of parents) {
      results[parent.name] = this.#results.get(parent.name)
      counts[parent.name] = countsOf(parent)
    }
    return { workflowId: workflow.id, input: await this.#inputOnce(), results, counts }
  }

  async #inputOnce(): Promise<unknown> {
    const { input } = this.#given.workflow
    const schema = this.#services.definitions.schemaOf(this.#given.workflow)
    this.#input ??= await this.#byAuthor(() => parsedValue('input', schema, input))
    return this.#input
  }

  /** Once, however many steps come after them, and in one statement, however many there are: none if they are known. */
  async #readResults(steps: readonly StepRow[]): Promise<void> {
    const withItems = steps.filter(
      ({ kind, status, items }) => kind === 'jobs' && status !== 'skipped' && items !== null,
    )
    const unknown = withItems.filter(({ isList, onlyItem }) => isList || onlyItem === undefined).map(positionOf)
    const completed = { kind: 'do', status: 'completed' } as const
    const read = await workflowItemList(this.#session, this.#given.workflow.id, unknown, completed)
    const byStep = new Map(withItems.map(({ position }): [number, DoneItem[]] => [position, []]))
    for (const item of [...withItems.flatMap(({ onlyItem }) => onlyItem ?? []), ...read])
      byStep.get(item.position)?.push(item)
    for (const step of steps) this.#results.set(step.name, await this.#openResults(step, byStep.get(step.position)))
  }

  async #joblessResult(step: StepRow): Promise<unknown> {
    if (step.status !== 'completed' || step.kind === 'sleep') return undefined
    if (step.kind === 'workflow') return this.#childResults(step)
    const given = { name: step.name, schema: this.#definitionOf(step).wait?.payload }
    return this.#byAuthor(() => signalledValue(this.#session, this.#given.workflow.id, given))
  }

  /** Of a step that is a workflow. */
  async #childResults(step: StepRow): Promise<unknown> {
    const [child] = await workflowChildren(this.#session, this.#given.workflow.id, [step.position])
    const workflow = child && (await workflowLock(this.#session, child.id, { isOwn: false }))
    if (workflow === undefined) return {}
    const steps = new Map((await workflowStepRows(this.#session, workflow.id)).map((each) => [each.name, each]))
    return new StepJobs(this.#session, this.#services, { workflow, steps, edits: {} }).last()
  }

  async #openResults(step: StepRow, items: readonly DoneItem[] | undefined): Promise<unknown> {
    if (step.kind !== 'jobs') return this.#joblessResult(step)
    if (items === undefined) return undefined
    const { contract } = this.#jobsOf(step)
    return this.#byAuthor(async () => {
      if (!step.isList) return items[0] === undefined ? undefined : this.#resultOf(contract, items[0])
      const list = new Array<unknown>(step.items ?? 0).fill(undefined)
      for (const each of items) list[each.item] = await this.#resultOf(contract, each)
      return list
    })
  }

  #resultOf(contract: JobContract, { jobId: id, result, hasResult }: DoneItem): Promise<unknown> {
    const opened = openStored(
      this.#services.registry.keys,
      { contract, part: 'result', owner: this.#ownerOf(contract) },
      result,
    )
    return parseResult({ id, type: contract.type, result: opened, hasResult }, contract)
  }

  /** Of its jobs. A contract may give each another tenant. */
  #ownerOf({ tenantOf }: JobContract): Partial<Owner> {
    const { id: workflowId, tenant } = this.#given.workflow
    return tenantOf === undefined ? { workflowId, tenant } : { workflowId }
  }

  #payloadOf(contract: JobContract, { payload, payloadVersion }: WorkflowItem): unknown {
    const opened = openStored(
      this.#services.registry.keys,
      { contract, part: 'payload', owner: this.#ownerOf(contract) },
      payload,
    )
    return parseStored(contract, opened, payloadVersion ?? contract.version)
  }
}

const positionOf = ({ position }: StepRow): number => position

/** Other programs have the keys, or know the version. */
const isPassing = (error: unknown): boolean =>
  error instanceof Undecryptable || error instanceof EncryptionKeyMissing || error instanceof NewerPayload

function listOf({ name, over }: StepDefinition, scope: StepScope): readonly unknown[] {
  if (over === undefined) return [undefined]
  const list = over(scope)
  if (!Array.isArray(list)) throw new Error(`\`over\` of step "${name}" returned no list.`)
  if (list.length <= MAX_ITEMS) return list
  throw new Error(
    `Step "${name}" would have ${list.length} jobs, and ${MAX_ITEMS} is the most. Let each job do more of the work.`,
  )
}

const some = (indexes: readonly string[]): string =>
  `${indexes.slice(0, 10).join(', ')}${indexes.length > 10 ? ' and more' : ''}`
