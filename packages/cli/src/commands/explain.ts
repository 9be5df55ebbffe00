import { Command } from 'commander'
import type { Explanation } from 'millrace'
import { addModuleOption, addRemoteOptions, type ClientOptions, withClientOrApi } from '../client.ts'
import { fromNow, print, printJson } from '../print.ts'
import { safeLine } from '../terminal.ts'
import { addWatchOptions } from '../watch.ts'

const help = `
Limits, services and budgets are those that workers have declared. With --module, those of the workload stand before them.

Examples:
  millrace explain 48211
  millrace explain 48211 --json
`

export function explainCommand(): Command {
  const command = new Command('explain')
    .summary('why is this job not running?')
    .description('Why is this job not running? What holds it, who holds it, until when, and what to do.')
    .argument('<id>', 'the id of the job')
  return addWatchOptions(addModuleOption(addRemoteOptions(command)))
    .addHelpText('after', help)
    .action(act)
}

async function act(id: string, options: ClientOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) => {
    const explanation = await millrace.explain(id)
    if (options.json) return printJson(explanation)
    const letter = explanation.job.status === 'dead' ? await millrace.deadLetters.ofJob(id) : undefined
    print(textOf(explanation) + (letter === undefined ? '' : afterDeath(letter)))
  })
}

function afterDeath({ id, status }: { id: string; status: string }): string {
  if (status !== 'pending') return `\nIts dead letter is ${status}: millrace dead show ${id}\n`
  return `\nWhat helps, when the cause is gone:\n  millrace dead show ${id}\n  millrace dead redrive ${id}\n`
}

function textOf({ summary, reasons, expectedAt, workflow, unknown }: Explanation): string {
  // A tenant, a key or a reason inside a sentence must not make a line of its own.
  const lines = reasons.length > 1 ? reasons.map(({ sentence }) => `- ${safeLine(sentence)}`) : [safeLine(summary)]
  const remedies = reasons.flatMap(({ remedy }) => (remedy === null ? [] : [`  ${safeLine(remedy)}`]))
  if (remedies.length > 0) lines.push('', 'What helps:', ...new Set(remedies))
  if (expectedAt !== null) lines.push('', `Expected to start ${fromNow(expectedAt)}.`)
  if (workflow !== null) lines.push('', safeLine(workflow.sentence))
  if (unknown.length > 0) lines.push('', 'Not known:', ...unknown.map((sentence) => `  ${safeLine(sentence)}`))
  return `${lines.join('\n')}\n`
}
