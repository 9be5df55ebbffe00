import { Command } from 'commander'
import type { Finding, Health, HealthArea, Verdict } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { markedState } from '../colours.ts'
import { print, printJson } from '../print.ts'
import { safeLine } from '../terminal.ts'
import { addWatchOptions } from '../watch.ts'

const help = `
It only reads. Exit code 0: all is well; 3: degraded, work goes on but something needs attention; 1: failing, or no look was possible.
docs/operations.md has an entry for each check.

Examples:
  millrace doctor
  millrace doctor --json | jq '.reasons[] | {check, says, remedy}'
`

const EXIT_CODES: Record<Verdict, number> = { ok: 0, degraded: 3, failing: 1 }

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .summary('is all well? What is not, and what to do about it')
    .description('Look at the database, the queues, runs, workers and services, and say what is well and what is not.')
  return addWatchOptions(addClientOptions(command)).addHelpText('after', help).action(act)
}

async function act(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const health = await millrace.health()
    if (options.json) printJson(health)
    else print(textOf(health))
    process.exitCode = EXIT_CODES[health.verdict]
  })
}

const AREAS: readonly HealthArea[] = ['database', 'queues', 'runs', 'workers', 'services']

function textOf({ summary, findings }: Health): string {
  const sections = AREAS.map((area) => [area, findings.filter((finding) => finding.area === area)] as const)
  const shown = sections.filter(([, found]) => found.length > 0)
  return [
    `${summary}\n`,
    ...shown.map(([area, found]) => `\n${area.toUpperCase()}\n${found.map(lineOf).join('')}`),
  ].join('')
}

const WIDTH = 'degraded'.length

function lineOf({ verdict, check, says, remedy }: Finding): string {
  const line = `  ${markedState(verdict.padEnd(WIDTH))}  ${safeLine(says)}`
  const indent = ' '.repeat(WIDTH + 4)
  return remedy === null ? `${line}\n` : `${line} (${check})\n${indent}To do: ${safeLine(remedy)}\n`
}
