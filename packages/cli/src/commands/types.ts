import { Command } from 'commander'
import { checkPayload, type JobContract, MillraceError } from 'millrace'
import { fail } from '../failure.ts'
import { table } from '../table.ts'
import type { Workload } from '../workload.ts'
import { loadWorkload } from '../workload-module.ts'

const help = `
The workload is loaded and not started; no database is needed.

With --examples each example payload is checked as \`enqueue\` would check it: by its schema, and by the rules of what a
payload may hold. One that is refused is not printed.

Exit codes:
  0  done
  1  the module cannot be loaded; with --examples: an example does not fit

Examples:
  millrace types dist/workload.js
  millrace types dist/workload.js --examples --json
`

interface Options {
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

type Example = { payload: unknown; warnings: readonly string[] } | { problem: string }

export function typesCommand(): Command {
  return new Command('types')
    .summary('list the job types of a workload')
    .description('List the job types of a workload, and check their examples.')
    .argument('<module>', 'the workload: a file, or a package installed here')
    .option('--examples', 'check and print the example payloads')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(act)
}

async function act(module: string, options: Options, command: Command): Promise<void> {
  try {
    const workload = await loadWorkload(module)
    const types = await Promise.all(contractsOf(workload).map((contract) => rowOf(contract, workload, options)))
    if (options.json) print(`${JSON.stringify({ workload: workload.name, types }, null, 2)}\n`)
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
    return [JSON.stringify(example.payload), ...example.warnings.map((warning) => `warning: ${warning}`)]
      .map((line, at) => `  ${at === 0 ? i + 1 : ' '}  ${line}\n`)
      .join('')
  })
  return `\n${type}\n${lines.join('')}`
}

function print(text: string): void {
  process.stdout.write(text)
}
