// Jobs one after another, which need no more to be said about them than their order.
import type { JobContract, PayloadInput, RequiresTenant, ResultOutput } from '../contract/job.ts'
import { InvalidDefinition } from '../errors.ts'
import { type AsGiven, asGiven, asGivenUnder, listAsGiven } from './as-given.ts'
import { checkNotSensitive } from './check.ts'
import { declare, type WorkflowOptions } from './define.ts'
import type { WorkflowDefinition } from './definition.ts'

export type ChainOptions = Omit<WorkflowOptions<undefined>, 'input'>

/** The jobs, with one in the place of which something else is expected where the result before it does not fit. */
export type Linked<Jobs extends readonly unknown[]> = Jobs extends readonly [
  infer One extends JobContract,
  infer Next extends JobContract,
  ...infer Rest,
]
  ? [ResultOutput<One>] extends [PayloadInput<Next>]
    ? readonly [One, ...Linked<readonly [Next, ...Rest]>]
    : readonly [One, { 'the result before it does not fit its payload': ResultOutput<One> }, ...Rest]
  : Jobs

/**
 * Declares a workflow in which each job is given the result of the one before it, and the first what `start` is given. The
 * steps are named for the jobs' types: the second of the same type is `resize-2`.
 */
export function chain<const Jobs extends readonly [JobContract, ...JobContract[]]>(
  name: string,
  jobs: Jobs & Linked<Jobs>,
  options: ChainOptions = {},
): WorkflowDefinition<AsGiven<PayloadInput<Jobs[0]>>, true extends RequiresTenant<Jobs[number]> ? true : false> {
  const contracts: readonly JobContract[] = jobs
  const [first] = contracts
  if (first === undefined) throw new InvalidDefinition(`Chain "${name}" has no jobs: pass at least one contract.`)
  checkNotSensitive(name, [first])
  const links = contracts.map((job) => ({ job, payload: undefined }))
  return inOrder(declare(name, { ...options, input: asGiven(first.payload) }), links) as never
}

/** The name of all chains whose jobs are listed when they are started. */
export const FIXED_CHAIN = 'millrace.chain'

/** The input of such a chain: it says itself of which jobs it consists. */
export interface FixedLink {
  readonly type: string
  readonly payload: unknown
}

/** A chain of jobs whose payloads are known from the start. Who carries it on builds it anew from its stored input. */
export function fixedChain(
  links: readonly FixedLink[],
  contractOf: (type: string) => JobContract,
): WorkflowDefinition<AsGiven<readonly FixedLink[]>> {
  const jobs = links.map(({ type }) => contractOf(type))
  checkNotSensitive(FIXED_CHAIN, jobs)
  const input = listAsGiven<FixedLink>(
    (index) => jobs[index] && asGivenUnder<FixedLink>('payload', jobs[index].payload),
  )
  const fixed = jobs.map((job, index) => ({
    job,
    payload: (scope: { input: unknown }) => (scope.input as readonly FixedLink[])[index]?.payload,
  }))
  return inOrder(declare(FIXED_CHAIN, { input }), fixed) as never
}

type Links = readonly { job: JobContract; payload: ((scope: { input: unknown }) => unknown) | undefined }[]

function inOrder(start: ReturnType<typeof declare>, links: Links): WorkflowDefinition {
  const seen = new Map<string, number>()
  let workflow = start
  let before: string | undefined
  for (const { job, payload } of links) {
    const times = (seen.get(job.type) ?? 0) + 1
    seen.set(job.type, times)
    const name: string = times === 1 ? job.type : `${job.type}-${times}`
    workflow = workflow.step(name, job, { ...(payload && { payload }), ...(before !== undefined && { after: before }) })
    before = name
  }
  return workflow
}
