import { Command } from 'commander'
import type { Job, JobAttempt } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { whenOf } from './jobs.ts'

const help = `
Examples:
  millrace job 48211
  millrace job 48211 --json | jq .payload
`

export function jobCommand(): Command {
  const command = new Command('job')
    .summary('show one job with its attempts')
    .description('Show one job: its state, payload, result, and the attempts that failed.')
    .argument('<id>', 'the id of the job')
  return addClientOptions(command).addHelpText('after', help).action(act)
}

async function act(id: string, options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const job = await millrace.job(id)
    if (job === undefined) return notFound(command, id)
    const attempts = await millrace.attempts(id)
    if (options.json) return printJson({ ...job, attempts })
    print(block(job))
    if (attempts.length > 0) print(`\n${table(['ATTEMPT', 'FAILED', 'ERROR'], attempts.map(attemptRow))}`)
  })
}

function notFound(command: Command, id: string): never {
  command.error(`error: There is no job ${oneLine(id, 40)}. It never existed, or its time in the archive is over.`)
}

function block(job: Job): string {
  const lines: [string, string | null][] = [
    ['Job', job.id],
    ['Type', job.type],
    ['Queue', job.queue],
    ['Tenant', job.tenant],
    ['Status', `${job.status}, ${whenOf(job)}`],
    ['Attempt', `${job.attempt} of ${job.maxAttempts}${job.crashes > 0 ? `, ${job.crashes} crashed` : ''}`],
    ['Priority', String(job.priority)],
    ['Dedup key', job.dedupKey],
    ['Correlation', job.correlationId],
    ['Parent', job.parentJobId],
    ['Created', `${job.createdAt.toISOString()}${job.createdBy === null ? '' : ` by ${job.createdBy}`}`],
    ['Worker', job.status === 'processing' ? job.workerId : null],
    ['Reason', job.reason],
    ['Last error', job.lastError],
    ['Payload', JSON.stringify(job.payload)],
    ['Result', job.result === null ? null : JSON.stringify(job.result)],
  ]
  const shown = lines.filter((line): line is [string, string] => line[1] !== null)
  const width = Math.max(...shown.map(([label]) => label.length))
  return shown.map(([label, value]) => `${label.padEnd(width)}  ${oneLine(value, 2_000)}\n`).join('')
}

function attemptRow({ attempt, finishedAt, errorClass, errorMessage }: JobAttempt): string[] {
  return [String(attempt), fromNow(finishedAt), oneLine(`${errorClass}: ${errorMessage}`, 100)]
}
