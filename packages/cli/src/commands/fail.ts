import { Command } from 'commander'
import type { FailResult } from 'millrace'
import { addClientOptions, addModuleOption, withClient } from '../client.ts'
import { oneLine, print, printJson } from '../print.ts'
import { addWhereOptions, demandOne, runBulk, type WhereOptions } from './bulk-run.ts'
import { addAuthorOption } from './retry.ts'

const help = `
A failed attempt counts as if the handler had thrown: the job waits by its backoff, or becomes a dead letter after its
last attempt. A running job is taken away from its worker first, and its handler's signal aborts. The backoff is the job
type's own if the workload is known (--module), else the default.

Exit codes:
  0  every job has failed
  1  at least one is finished already, or does not exist

Examples:
  millrace fail 48211 --reason "the file is broken"
  millrace fail 48211 48212 --reason "wrong recipient" --final
  millrace fail --where 'type:report took:>2h' --reason "hangs"
`

interface Options extends WhereOptions {
  readonly reason: string
  readonly final?: true
}

export function failCommand(): Command {
  const command = new Command('fail')
    .summary('fail jobs by hand')
    .description('Fail jobs that wait or run: one attempt of them, or for good.')
    .argument('[id...]', 'the ids of the jobs')
    .requiredOption('--reason <text>', 'why: the error of the attempt')
    .option('--final', 'no further attempt: the job becomes a dead letter')
  return addModuleOption(addClientOptions(addWhereOptions(addAuthorOption(command))))
    .addHelpText('after', help)
    .action(act)
}

async function act(ids: string[], options: Options, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const { by, reason, final = false, where } = options
    demandOne(ids, options)
    if (where !== undefined) return runBulk(millrace, { action: 'fail', query: where, reason, final }, options)
    const results = []
    for (const id of ids) results.push({ job: id, ...(await millrace.fail(id, { by, reason, final })) })
    if (results.some(({ status }) => status !== 'retrying' && status !== 'dead')) process.exitCode = 1
    if (options.json) printJson(results)
    else print(results.map((result) => `Job ${oneLine(result.job, 40)} ${said(result)}.\n`).join(''))
  })
}

function said(result: FailResult): string {
  switch (result.status) {
    case 'retrying':
      return `has failed attempt ${result.attempt} and is tried again in ${Math.round(result.delayMs / 1000)} s`
    case 'dead':
      return 'is a dead letter'
    case 'finished':
      return `is ${result.as} already`
    case 'not_found':
      return 'does not exist'
  }
}
