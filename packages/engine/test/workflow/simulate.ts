// Carries out what is decided for a planned workflow, tick by tick, and refuses decisions that may never be made.
import { expect } from 'vitest'
import type { LockedWorkflow, StepRow } from '#src/store/workflows'
import { takeUp } from '#src/workflow/again'
import { decide, hasEnded } from '#src/workflow/decide'
import type { Decision, Step, WorkflowState } from '#src/workflow/graph'
import type { Fate, Plan, PlannedStep } from './plan.js'

interface Run extends Step {
  plan: PlannedStep
  endsAt: number
  undoEndsAt: number
  heeded: PlannedStep['heeds']
  position: number
  kind: 'jobs'
}

const IDLE = { start: [], skip: [], drop: [], cancel: [], undo: null }

export class Simulation {
  readonly #state: Omit<WorkflowState, 'steps'> & { steps: Run[] }
  readonly #byName: Map<string, Run>
  readonly #started = new Set<string>()
  readonly #undone: string[] = []
  readonly #cancelledAt: number | null
  /** Somebody resumes when so many undos have begun; everything is mended by then. */
  readonly #resumedAfter: number | null
  #now = 0
  #completions = 0

  isResumed = false

  constructor({ steps, rollsBack, cancelledAt }: Plan, resumedAfter: number | null = null) {
    this.#resumedAfter = resumedAfter
    this.#state = {
      status: 'running',
      stopping: null,
      rollsBack,
      resumes: false,
      isOpenElsewhere: false,
      steps: steps.map(waiting),
    }
    this.#byName = new Map(this.#state.steps.map((step) => [step.name, step]))
    this.#cancelledAt = cancelledAt
  }

  run(): Fate {
    for (const limit = 10 + 20 * this.#state.steps.length; !hasEnded(this.#state.status); this.#now++) {
      expect(this.#now, 'it must end').toBeLessThan(limit)
      this.#endWhatIsOver()
      if (this.#now === this.#cancelledAt && !this.isResumed) this.#cancel()
      if (this.#state.status === 'rolling back' && this.#undone.length === this.#resumedAfter && !this.isResumed) {
        this.#state.resumes = true
        this.isResumed = true
      }
      this.#advance()
    }
    return {
      status: this.#state.status,
      steps: Object.fromEntries(this.#state.steps.map(({ name, status }) => [name, status])),
      undone: this.#undone,
    }
  }

  /** What runs was not asked to stop before, if it was a failure for which the workflow stops. */
  #cancel(): void {
    this.#state.stopping = 'cancelled'
    for (const step of this.#state.steps) step.isAskedToStop = false
  }

  #endWhatIsOver(): void {
    for (const step of this.#state.steps) {
      if (step.status === 'running' && step.endsAt === this.#now) this.#end(step)
      if (step.undo === 'running' && step.undoEndsAt === this.#now) step.undo = step.plan.undoFails ? 'failed' : 'done'
    }
  }

  #end(step: Run): void {
    const { jobs } = step.plan
    const completed = jobs.filter((job) => job === 'completed').length
    if (!step.hasJobs) {
      step.status = completed === jobs.length ? 'completed' : 'failed'
      return
    }
    if (step.heeded) step.status = 'cancelled'
    else if (completed === jobs.length) step.status = 'completed'
    else step.status = jobs.includes('failed') ? 'failed' : 'cancelled'
    step.completedJobs = step.heeded ? Math.min(step.heeded.completed, jobs.length) : completed
    if (step.completedJobs > 0) step.completedAs = ++this.#completions
  }

  #advance(): void {
    const before = JSON.stringify(this.#state)
    const decision = decide(this.#state)
    expect(JSON.stringify(this.#state), 'deciding changes nothing').toBe(before)
    this.#carryOut(decision)
    // A condition that is not met is news: what follows from it is decided at once.
    if (decision.start.some((name) => this.#byName.get(name)?.status === 'skipped')) {
      this.#advance()
      return
    }
    if (decision.takesUp) {
      this.#advance()
      return
    }
    const { status, stopping } = decision
    expect(decide(this.#state), 'nothing new the second time').toEqual({ ...IDLE, status, stopping })
  }

  #carryOut({ start, skip, drop, cancel, undo, takesUp, status, stopping }: Decision): void {
    if (takesUp) {
      this.#takeUp()
      return
    }
    for (const name of skip) this.#from('waiting', name).status = 'skipped'
    for (const name of drop) this.#drop(name)
    for (const name of start) this.#start(name)
    Object.assign(this.#state, { status, stopping })
    for (const name of cancel) this.#ask(name)
    if (undo !== null) this.#undo(undo)
    if (hasEnded(status)) expect(this.#state.steps.filter(isOpen), 'nothing is left behind').toEqual([])
  }

  /** Of what was undone everything is done anew, of the rest nothing, apart from what did not complete. */
  #takeUp(): void {
    const { steps } = this.#state
    const undone = steps.filter(({ undo }) => undo === 'done')
    expect(steps.some(({ undo }) => undo === 'running')).toBe(false)
    const kept = steps.filter((step) => step.status === 'completed' && !undone.includes(step))
    const counts = new Map(undone.map(({ position, completedJobs }) => [position, completedJobs]))
    takeUp(this.#state as never as LockedWorkflow, steps as never as StepRow[], counts)
    for (const step of undone) expect(step.status).toBe('waiting')
    for (const step of kept) expect(step.status).toBe('completed')
    for (const step of steps) {
      if (undone.includes(step)) step.completedJobs = 0
      if (step.status === 'waiting') this.#started.delete(step.name)
      step.plan = { ...step.plan, jobs: step.plan.jobs.map(() => 'completed') }
      Object.assign(step, { heeded: null, isAskedToStop: false })
    }
    this.#undone.length = 0
  }

  #start(name: string): void {
    const step = this.#from('waiting', name)
    expect(this.#started).not.toContain(name)
    for (const parent of Object.keys(step.after)) expect(isOpen(this.#byName.get(parent) as Run)).toBe(false)
    this.#started.add(name)
    if (!step.plan.isWanted) step.status = 'skipped'
    else Object.assign(step, { status: 'running', endsAt: this.#now + step.plan.ticks })
  }

  #drop(name: string): void {
    const step = this.#byName.get(name) as Run
    expect(step.hasJobs ? ['waiting'] : ['waiting', 'running']).toContain(step.status)
    step.status = 'cancelled'
  }

  #ask(name: string): void {
    const step = this.#from('running', name)
    expect(step.isAskedToStop).toBe(false)
    step.isAskedToStop = true
    const how = this.#state.stopping === 'failed' ? step.plan.withdraws : step.plan.heeds
    if (how === null || this.#now + how.ticks >= step.endsAt) return
    Object.assign(step, { endsAt: this.#now + how.ticks, heeded: how })
  }

  #undo(name: string): void {
    const step = this.#byName.get(name) as Run
    expect(this.#state.steps.filter(isOpen), 'what runs is awaited').toEqual([])
    expect(step.undo).toBe('none')
    expect(this.#state.steps.some(({ undo }) => undo === 'running')).toBe(false)
    Object.assign(step, { undo: 'running', undoEndsAt: this.#now + 1 })
    this.#undone.push(name)
  }

  #from(status: Step['status'], name: string): Run {
    const step = this.#byName.get(name) as Run
    expect(step.status, name).toBe(status)
    return step
  }
}

function waiting(plan: PlannedStep, position: number): Run {
  const { name, after, onFailure, canBeUndone, hasJobs } = plan
  const fresh = { status: 'waiting', undo: 'none', completedJobs: 0, completedAs: null, isAskedToStop: false } as const
  return {
    name,
    after,
    onFailure,
    canBeUndone,
    hasJobs,
    ...fresh,
    plan,
    endsAt: -1,
    undoEndsAt: -1,
    heeded: null,
    position,
    kind: 'jobs',
  }
}

function isOpen({ status, undo }: Step): boolean {
  return status === 'waiting' || status === 'running' || undo === 'running'
}
