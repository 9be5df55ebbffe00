// How a workflow must end, worked out from its plan without running it: when would each step begin and end if nobody
// stopped it, when is it stopped, and what had begun by then.
import type { Fate, Plan, PlannedStep } from './plan.js'

interface Course {
  begins: number
  ends: number
  status: 'completed' | 'failed' | 'cancelled' | 'skipped'
  completed: number
}

const NEVER = Number.POSITIVE_INFINITY

export function predict(plan: Plan): Fate {
  const { steps } = plan
  const courses = undisturbed(steps)
  const of = (step: PlannedStep): Course => courses.get(step.name) as Course
  const isBad = (step: PlannedStep): boolean => of(step).status === 'failed' || of(step).status === 'cancelled'
  const failsAt = Math.min(NEVER, ...steps.filter((step) => isBad(step) && isFatal(step, steps)).map((s) => of(s).ends))
  const begun = (step: PlannedStep, stop: number): boolean => of(step).begins < stop

  // What waits without jobs is not waited for.
  const withdrawn = (step: PlannedStep): Course =>
    step.hasJobs
      ? stopped(step, of(step), { at: failsAt, how: step.withdraws })
      : { ...of(step), ends: Math.min(of(step).ends, failsAt) }
  const lastEnd = Math.max(0, ...steps.filter((step) => begun(step, failsAt)).map((step) => withdrawn(step).ends))
  const cancelsAt = (plan.cancelledAt ?? NEVER) <= lastEnd ? (plan.cancelledAt as number) : NEVER
  const stopsAt = Math.min(failsAt, cancelsAt)

  const final = new Map(
    steps.map((step) => [
      step.name,
      begun(step, stopsAt) && (step.hasJobs || of(step).ends <= stopsAt)
        ? stopped(step, failsAt < cancelsAt ? withdrawn(step) : of(step), { at: cancelsAt, how: step.heeds })
        : { begins: NEVER, ends: NEVER, status: 'cancelled' as const, completed: 0 },
    ]),
  )
  const undone =
    cancelsAt < NEVER || (failsAt < NEVER && plan.rollsBack)
      ? steps
          .map((step, place) => ({ step, place, course: final.get(step.name) as Course }))
          .filter(({ step, course }) => step.canBeUndone && course.completed > 0)
          .sort((a, b) => b.course.ends - a.course.ends || b.place - a.place)
          .map(({ step }) => step)
      : []
  return {
    status: endOf(undone, failsAt, cancelsAt),
    steps: Object.fromEntries(steps.map(({ name }) => [name, (final.get(name) as Course).status])),
    undone: undone.map(({ name }) => name),
  }
}

function undisturbed(steps: readonly PlannedStep[]): Map<string, Course> {
  const known = new Map<string, Course>()
  const byName = new Map(steps.map((step) => [step.name, step]))
  const courseOf = (name: string): Course => {
    const step = byName.get(name) as PlannedStep
    const course = known.get(name) ?? follow(step)
    known.set(name, course)
    return course
  }
  const follow = ({ after, hasJobs, isWanted, jobs, ticks }: PlannedStep): Course => {
    const parents = Object.keys(after).map((name) => ({ policy: after[name], ...courseOf(name) }))
    const begins = Math.max(0, ...parents.map(({ ends }) => ends))
    if (!isWanted || !parents.every(({ policy, status }) => policy === 'continue' || status === 'completed')) {
      return { begins, ends: begins, status: 'skipped', completed: 0 }
    }
    if (!hasJobs) {
      const status = jobs.every((job) => job === 'completed') ? 'completed' : 'failed'
      return { begins, ends: begins + ticks, status, completed: 0 }
    }
    const bad = jobs.includes('failed') ? 'failed' : jobs.find((job) => job === 'cancelled')
    const completed = jobs.filter((job) => job === 'completed').length
    return { begins, ends: begins + ticks, status: bad ?? 'completed', completed }
  }
  for (const { name } of steps) courseOf(name)
  return known
}

function isFatal(step: PlannedStep, steps: readonly PlannedStep[]): boolean {
  const edges = steps.flatMap(({ after }) => after[step.name] ?? [])
  return (edges.length > 0 ? edges : [step.onFailure]).includes('fail')
}

/** What becomes of a step that runs while somebody cancels, or the workflow fails. */
function stopped(
  { jobs }: PlannedStep,
  course: Course,
  { at, how }: { at: number; how: PlannedStep['heeds'] },
): Course {
  if (course.ends <= at || how === null) return course
  const ends = at + how.ticks
  if (ends >= course.ends) return course
  return { ...course, ends, status: 'cancelled', completed: Math.min(how.completed, jobs.length) }
}

function endOf(undone: readonly PlannedStep[], failsAt: number, cancelsAt: number): string {
  if (undone.length > 0) return undone.some(({ undoFails }) => undoFails) ? 'rollback failed' : 'rolled back'
  if (cancelsAt < NEVER) return 'cancelled'
  return failsAt < NEVER ? 'failed' : 'completed'
}
