// What the compiler cannot see, or was not asked about: definitions that make no sense are refused where they are declared.
import type { JobContract } from '../contract/job.ts'
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition } from '../errors.ts'
import type { WorkflowDefinition } from './definition.ts'
import type { FailurePolicy } from './graph.ts'
import { problemOf } from './start-rules.ts'
import type { StepList } from './step-list.ts'

const NAME = /^[a-zA-Z0-9][\w.:/-]{0,99}$/
const POLICIES: readonly unknown[] = ['fail', 'skip', 'continue'] satisfies FailurePolicy[]
const RETENTIONS: readonly unknown[] = ['none', 'short', 'standard', 'long']

/** A step as it was given, before it is known to be usable. */
interface GivenPlace {
  readonly name: string
  readonly after: Readonly<Record<string, FailurePolicy>>
  readonly options: { readonly onFailure?: unknown; readonly when?: unknown; readonly delay?: unknown }
}

interface GivenStep extends GivenPlace {
  readonly contract: JobContract
  readonly isList: boolean
  readonly options: GivenPlace['options'] & {
    readonly over?: unknown
    readonly payload?: unknown
    readonly undo?: { readonly job?: unknown; readonly payload?: unknown } | undefined
  }
}

export function checkWorkflow(
  name: string,
  { input, onFailure, retention }: { input?: unknown; onFailure?: unknown; retention?: unknown },
): void {
  if (!NAME.test(name)) throw new InvalidDefinition(`Workflow name "${name}" is not usable: expected ${USABLE}`)
  if (input !== undefined && !isSchema(input)) {
    throw new InvalidDefinition(
      `Workflow "${name}" has an input that is no schema: expected a Standard Schema (Zod …).`,
    )
  }
  if (onFailure !== undefined && onFailure !== 'roll back' && onFailure !== 'stop') {
    throw new InvalidDefinition(
      `Workflow "${name}" has onFailure ${JSON.stringify(onFailure)}: expected 'roll back' or 'stop'.`,
    )
  }
  if (retention !== undefined && !RETENTIONS.includes(retention)) {
    throw new InvalidDefinition(
      `Workflow "${name}" has retention ${JSON.stringify(retention)}: expected 'none', 'short', 'standard' or 'long'.`,
    )
  }
}

const USABLE = 'a letter or digit followed by up to 99 letters, digits or "_ . : / -".'

interface Before {
  name: string
  steps: StepList
}

const refusal =
  (workflow: Before, step: string) =>
  (why: string): never => {
    throw new InvalidDefinition(`Step "${step}" of workflow "${workflow.name}" ${why}`)
  }

/** What holds for steps of all kinds. */
export function checkPlace(workflow: Before, { name, after, options }: GivenPlace): void {
  const refuse = refusal(workflow, name)
  if (!NAME.test(name)) refuse(`has a name that is not usable: expected ${USABLE}`)
  if (workflow.steps.get(name) !== undefined) refuse('is declared twice: give each step a name of its own.')
  for (const [parent, policy] of Object.entries(after)) {
    if (parent === name) refuse('waits for itself: it would never start.')
    if (workflow.steps.get(parent) === undefined) refuse(`waits for "${parent}", ${notBefore(parent, workflow.steps)}`)
    if (!POLICIES.includes(policy)) refuse(`has ${policyProblem(policy)} for "${parent}".`)
  }
  const { onFailure = 'fail' } = options
  if (!POLICIES.includes(onFailure)) refuse(`has ${policyProblem(onFailure)} in onFailure.`)
  const problem = problemOf(options)
  if (problem !== undefined) refuse(problem)
}

export function checkStep(workflow: Before, { name, contract, after, isList, options }: GivenStep): void {
  const refuse = refusal(workflow, name)
  if (!isContract(contract)) refuse('has no job: pass what defineJob returned.')
  const { over, payload, undo } = options
  if (isList && typeof over !== 'function') refuse('has no list: `over` must be a function that returns one.')
  if ((isList || payload !== undefined) && typeof payload !== 'function') refuse('has a payload that is no function.')
  if (payload === undefined && Object.keys(after).length > 1) {
    refuse('has several steps before it and no payload: say what its job is given.')
  }
  if (undo !== undefined && !isContract(undo.job)) refuse('has an undo without a job: pass what defineJob returned.')
  if (undo !== undefined && typeof undo.payload !== 'function') refuse('has an undo without a payload function.')
}

export function checkWait(
  workflow: Before,
  { name, kind, payload, due }: { name: string; kind: 'signal' | 'sleep'; payload: unknown; due: unknown },
): void {
  const refuse = refusal(workflow, name)
  if (kind === 'sleep' && due === undefined) refuse('does not say how long it sleeps: pass { for }.')
  if (payload !== undefined && !isSchema(payload)) {
    refuse('has a payload that is no schema: expected a Standard Schema (Zod …).')
  }
  const problem = problemOf({ delay: due })
  if (problem !== undefined) refuse(problem)
}

export function checkChild(
  workflow: Before,
  { name, child, input }: { name: string; child: unknown; input: unknown },
): void {
  const refuse = refusal(workflow, name)
  const { steps, input: schema } = Object(child) as Partial<WorkflowDefinition>
  if (!Array.isArray(steps)) refuse('has no workflow: pass what defineWorkflow returned.')
  if (steps?.length === 0) refuse('is a workflow without steps: add at least one to it first.')
  if (schema !== undefined && typeof input !== 'function') refuse('has no input function, and its workflow takes one.')
}

const isSchema = (given: unknown): boolean => Object(given) === given && '~standard' in Object(given)

/** Called where a workflow is to be run. */
export function checkHasSteps({ name, steps }: WorkflowDefinition): void {
  if (steps.length > 0) return
  throw new InvalidDefinition(`Workflow "${name}" has no steps: add at least one with .step(name, job, options).`)
}

function isContract(given: unknown): given is JobContract {
  const { type, queue } = Object(given) as Partial<JobContract>
  return typeof type === 'string' && typeof queue?.name === 'string'
}

function notBefore(parent: string, steps: StepList): string {
  const earlier = steps.all.map(({ name }) => name)
  const known =
    earlier.length === 0 ? 'it is the first one' : `before it are ${earlier.map((n) => `"${n}"`).join(', ')}`
  return `which is not declared before it (${known}).${suggestion(parent, earlier)} A step that is declared later cannot be waited for: that would allow cycles.`
}

function policyProblem(given: unknown): string {
  return `${JSON.stringify(given)} as what a failure means, where 'fail', 'skip' or 'continue' is expected,`
}

/** The input of a workflow is stored as it is given; a job's own payload is not, if it is sensitive. */
export function checkNotSensitive(workflow: string, contracts: readonly JobContract[]): void {
  const found = contracts.find((contract) => contract.sensitive.length > 0)
  if (found === undefined) return
  throw new InvalidDefinition(
    `Workflow "${workflow}" would keep payloads of "${found.type}" in its input, which is not encrypted, and ${found.sensitive.map((path) => `"${path}"`).join(', ')} of it is sensitive. Use defineWorkflow and give it a reference instead.`,
  )
}
