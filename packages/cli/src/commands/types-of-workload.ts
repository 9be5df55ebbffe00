// The job types of a workload, from its code: no database is needed.
import type { Command } from 'commander'
import { checkPayload, type EnqueueWarning, type JobContract, MillraceError, UnknownJobType } from 'millrace'
import { fail } from '../failure.ts'
import { print, printJson } from '../print.ts'
import { table } from '../table.ts'
import type { Workload } from '../workload.ts'
import { loadWorkload } from '../workload-module.ts'

interface Options {
  /** Undefined: all types. */
  readonly name: string | undefined
  readonly examples?: true
  readonly json?: true
}

interface TypeRow {
  type: string
  queue: string
  /** Of its payload. */
  version: number
  attempts: number
  /** Null: the worker's lane decides. */
  timeoutMs: number | null
  tenant: 'from the payload' | 'required' | 'optional'
  isDeduplicated: boolean
  hasHandler: boolean
  examples?: Example[]
}

type Example = { payload: unknown; warnings: readonly EnqueueWarning[] } | { problem: string }

export async function typesOfWorkload(module: string, options: Options, command: Command): Promise<void> {
  try {
    const workload = await loadWorkload(module)
    const contracts = wanted(contractsOf(workload), options.name)
    const types = await Promise.all(contracts.map((contract) => rowOf(contract, workload, options)))
    if (options.json) printJson({ workload: workload.name, types })
    else print(asText(types))
    const misfits = types.flatMap(({ type, examples = [] }) =>
      examples.flatMap((example, i) => misfit(type, example, i)),
    )
    for (const line of misfits) process.stderr.write(`error: ${line}\n`)
    process.exitCode = misfits.length === 0 ? 0 : 1
  } catch (error) {
    fail(command, error)
  }
  // A module that opened something when it was loaded must not keep the process.
  process.exit()
}

function wanted(contracts: JobContract[], name: string | undefined): JobContract[] {
  const found = contracts.filter(({ type }) => name === undefined || type === name)
  if (name === undefined || found.length > 0) return found
  throw new UnknownJobType(
    name,
    contracts.map(({ type }) => type),
  )
}

/** Those of workflows need not be listed among the jobs. */
function contractsOf({ jobs, workflows = [] }: Workload): JobContract[] {
  const steps = workflows.flatMap((workflow) => workflow.steps)
  const own = steps.flatMap(({ contract, undo }) => [contract, undo?.contract].filter((each) => each !== undefined))
  return [...new Map([...jobs, ...own].map((contract) => [contract.type, contract])).values()]
}

async function rowOf(contract: JobContract, workload: Workload, options: Options): Promise<TypeRow> {
  return {
    type: contract.type,
    queue: contract.queue.name,
    version: contract.version,
    attempts: contract.retry.attempts,
    timeoutMs: contract.timeoutMs ?? null,
    tenant: contract.tenantOf === undefined ? (contract.queue.options.tenant ?? 'optional') : 'from the payload',
    isDeduplicated: contract.dedupeKey !== undefined,
    hasHandler: workload.handlers.some((handler) => handler.contract.type === contract.type),
    ...(options.examples ? { examples: await checkExamples(contract) } : {}),
  }
}

function checkExamples(contract: JobContract): Promise<Example[]> {
  return Promise.all(
    contract.examples.map(async (example) => {
      try {
        const { text, warnings } = await checkPayload(contract, example)
        return { payload: JSON.parse(text), warnings }
      } catch (error) {
        if (error instanceof MillraceError) return { problem: error.message }
        throw error
      }
    }),
  )
}

function misfit(type: string, example: Example, position: number): string[] {
  return 'problem' in example ? [`Example ${position + 1} of ${type} does not fit. ${example.problem}`] : []
}

function asText(types: readonly TypeRow[]): string {
  if (types.length === 0) return 'The workload has no job types.\n'
  const rows = types.map((row) => [
    row.type,
    row.queue,
    String(row.version),
    String(row.attempts),
    row.timeoutMs === null ? "the lane's" : `${row.timeoutMs / 1_000} s`,
    row.tenant,
    row.isDeduplicated ? 'by key' : 'no',
    row.hasHandler ? 'yes' : 'none',
  ])
  const list = table(['TYPE', 'QUEUE', 'VERSION', 'ATTEMPTS', 'TIMEOUT', 'TENANT', 'DEDUPE', 'HANDLER'], rows)
  return list + types.map(examplesText).join('')
}

function examplesText({ type, examples }: TypeRow): string {
  if (examples === undefined) return ''
  if (examples.length === 0) return `\n${type}: no examples\n`
  const lines = examples.map((example, i) => {
    if ('problem' in example) return `  ${i + 1}  does not fit\n`
    return [
      JSON.stringify(example.payload),
      ...example.warnings.map(({ code, message }) => `warning (${code}): ${message}`),
    ]
      .map((line, at) => `  ${at === 0 ? i + 1 : ' '}  ${line}\n`)
      .join('')
  })
  return `\n${type}\n${lines.join('')}`
}
