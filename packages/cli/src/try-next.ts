// Commands for a developer whose `dev` has just started. They work as printed, in another terminal in the same folder.
import { checkPayload, type JobContract } from 'millrace'
import { moduleOfPackage } from './client.ts'
import { DEFAULT_SCHEMA, SCHEMA_VARIABLE } from './commands/worker-options.ts'
import type { Workload } from './workload.ts'

export interface Running {
  readonly workload: Workload | undefined
  readonly module: string | undefined
  readonly schema: string
  readonly healthUrl: string
}

export async function tryNext({ workload, module, schema, healthUrl }: Running): Promise<string[]> {
  const job = workload && (await showable(workload))
  const named = module === undefined || module === moduleOfPackage() ? '' : ` --module ${quoted(module)}`
  const commands = [
    ...(job === undefined ? [] : [`enqueue ${quoted(job.type)} ${quoted(job.payload)}${named} --wait`]),
    'jobs',
    'dead groups',
  ]
  const variable = schema === DEFAULT_SCHEMA ? '' : `${SCHEMA_VARIABLE}=${quoted(schema)} `
  return [...commands.map((each) => `${variable}npx millrace ${each}`), `curl ${healthUrl}/readyz`]
}

/** A job that can be enqueued without further thought: with an example, or without a payload; best one with a result. */
async function showable({ jobs, handlers }: Workload): Promise<{ type: string; payload: string } | undefined> {
  const runnable = jobs.filter((contract) => handlers.some((each) => each.contract === contract) && isFree(contract))
  for (const contract of runnable.sort((a, b) => Number(b.result !== undefined) - Number(a.result !== undefined))) {
    const [example = {}] = contract.examples
    const checked = await checkPayload(contract, example).catch(() => undefined)
    if (checked !== undefined) return { type: contract.type, payload: JSON.stringify(example) }
  }
  return undefined
}

/** It needs no tenant beside its payload. */
const isFree = ({ queue, tenantOf }: JobContract): boolean =>
  tenantOf !== undefined || queue.options.tenant !== 'required'

const quoted = (text: string): string =>
  /^[\w./@:=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
