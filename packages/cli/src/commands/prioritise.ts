import { Command } from 'commander'
import type { PrioritiseResult } from 'millrace'
import { addClientOptions, withClient } from '../client.ts'
import { Refused } from '../failure.ts'
import { oneLine, print, printJson } from '../print.ts'
import { addWhereOptions, runBulk, type WhereOptions } from './bulk-run.ts'
import { addAuthorOption } from './retry.ts'
import { parseCount } from './worker-options.ts'

const help = `
Lower runs first: 0 is before everything else. Only a job that waits can be prioritised. One that is scheduled for later
keeps its time: \`millrace retry\` makes it due now.

Exit codes:
  0  it has that priority
  1  it runs, is finished, or there is none

Examples:
  millrace prioritise 48211 0
  millrace prioritise --where 'tenant:org_7 waited:>10m' 1
`

export function prioritiseCommand(): Command {
  const command = new Command('prioritise')
    .alias('prioritize')
    .summary('let a waiting job run sooner, or later')
    .description('Give a waiting job another priority.')
    .argument('<values...>', 'the id of the job, unless --where is given, and the priority: from 0; lower runs first')
    .usage('[options] <id> <priority>')
  return addClientOptions(addWhereOptions(addAuthorOption(command)))
    .addHelpText('after', help)
    .action(act)
}

async function act(values: string[], options: WhereOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const { where } = options
    if (values.length !== (where === undefined ? 2 : 1))
      throw new Refused('Give the id of a job and its priority, or --where and a priority.')
    const priority = parseCount(0)(values.at(-1) as string)
    if (where !== undefined) return runBulk(millrace, { action: 'prioritise', query: where, priority }, options)
    const [id = ''] = values
    const result = await millrace.prioritise(id, priority, { by: options.by })
    if (result.status !== 'prioritised') process.exitCode = 1
    if (options.json) printJson({ job: id, ...result })
    else print(`Job ${oneLine(id, 40)} ${said(result)}.\n`)
  })
}

function said(result: PrioritiseResult): string {
  switch (result.status) {
    case 'prioritised':
      return `has priority ${result.priority}; it had ${result.before}`
    case 'running':
      return 'runs at this moment, and needs no priority'
    case 'finished':
      return `is ${result.as}, and does not wait any more`
    case 'not_found':
      return 'does not exist'
  }
}
