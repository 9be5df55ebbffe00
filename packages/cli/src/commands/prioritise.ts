import { Command } from 'commander'
import type { PrioritiseResult } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { oneLine, print, printJson } from '../print.ts'
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
`

export function prioritiseCommand(): Command {
  const command = new Command('prioritise')
    .alias('prioritize')
    .summary('let a waiting job run sooner, or later')
    .description('Give a waiting job another priority.')
    .argument('<id>', 'the id of the job')
    .argument('<priority>', 'from 0; lower runs first', parseCount(0))
  return addClientOptions(addAuthorOption(command)).addHelpText('after', help).action(act)
}

async function act(
  id: string,
  priority: number,
  options: ClientOptions & { by: string },
  command: Command,
): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
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
