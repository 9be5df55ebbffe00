// The steps of a workflow that an advance has before it: as long as jobs complete and others start, only those that matter
// for it, so that a link of a chain costs the same however long the chain is.
import type { LockedWorkflow, StepPart, StepRow } from '../store/workflows.ts'
import type { StepStatus } from './graph.ts'
import { endedAs, hasEndedJobs } from './standing.ts'

export class Steps {
  readonly byName = new Map<string, StepRow>()
  #rows: readonly StepRow[] = []
  #lastPlace = 0
  #isOpenElsewhere = false
  /** Those whose end is no news; undefined: these are all steps of the workflow. */
  #endedBefore: ReadonlySet<StepRow> | undefined

  static all(rows: readonly StepRow[]): Steps {
    const steps = new Steps()
    steps.haveAll(rows)
    return steps
  }

  static part({ steps: rows, lastPlace, isOpenElsewhere }: StepPart): Steps {
    const steps = new Steps()
    steps.#take(rows)
    steps.#lastPlace = lastPlace
    steps.#isOpenElsewhere = isOpenElsewhere
    steps.#endedBefore = new Set(rows.filter(({ status, needsAdvance }) => needsAdvance || isOver(status)))
    return steps
  }

  get rows(): readonly StepRow[] {
    return this.#rows
  }

  /** Others wait or run, and nothing can be decided about them now. */
  get isOpenElsewhere(): boolean {
    return this.#isOpenElsewhere
  }

  /** A step ended that was not expected to: what comes after it is not in here. */
  get isTooSmall(): boolean {
    const before = this.#endedBefore
    return before !== undefined && this.#rows.some((row) => isOver(row.status) && !before.has(row))
  }

  /** Read anew, all of them. */
  haveAll(rows: readonly StepRow[]): void {
    this.#take(rows)
    this.#isOpenElsewhere = false
    this.#endedBefore = undefined
    for (const { completedAs } of rows) this.#lastPlace = Math.max(this.#lastPlace, completedAs ?? 0)
  }

  get(name: string): StepRow {
    return this.byName.get(name) as StepRow
  }

  /** The next place in the order in which steps ended. */
  nextPlace(): number {
    return ++this.#lastPlace
  }

  #take(rows: readonly StepRow[]): void {
    this.#rows = rows
    this.byName.clear()
    for (const row of rows) this.byName.set(row.name, row)
  }
}

const isOver = (status: StepStatus): boolean => status !== 'waiting' && status !== 'running'

/**
 * Whether what follows can be told from a part of the steps: jobs have completed, and nothing else has happened. What
 * follows a failure depends on all of them.
 */
export function isPartEnough({ status, stopping }: LockedWorkflow, { steps, isTimeUp }: StepPart): boolean {
  const ended = steps.filter(({ needsAdvance }) => needsAdvance)
  const isGoing = status === 'running' && stopping === null && !isTimeUp
  return isGoing && ended.length > 0 && ended.every((step) => hasEndedJobs(step) && endedAs(step) === 'completed')
}
