import { Command } from 'commander'
import type { HistorySetting, JobEvent } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { Refused } from '../failure.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addAuthorOption } from './retry.ts'

const help = `
Every transition of a job is kept for 30 days if its type, or the queue of its type, is declared with history: 'full', or
if somebody has switched it on. What was switched here stands, whatever the contract says.

Examples:
  millrace history 48211                   what happened to this job, step by step
  millrace history 48211 --json
  millrace history settings                which types have a history
  millrace history on mail.send            as a role that owns Millrace's tables
  millrace history off mail.send
`

interface Decision extends ClientOptions {
  readonly by: string
}

export function historyCommand(): Command {
  return new Command('history')
    .summary('show what happened to a job, and decide which types have a history')
    .description('Show what happened to a job, and decide of which types that is kept.')
    .addHelpText('after', help)
    .addCommand(showCommand(), { isDefault: true })
    .addCommand(settingsCommand())
    .addCommand(switchCommand('on', 'Keep every transition of the jobs of a type.'))
    .addCommand(switchCommand('off', 'Keep no more of them.'))
}

function showCommand(): Command {
  const command = new Command('show')
    .description('Show every transition of a job, oldest first.')
    .argument('<id>', 'the id of the job')
  return addClientOptions(command).action(show)
}

function settingsCommand(): Command {
  return addClientOptions(
    new Command('settings').description('List the types that have a history, or had one.'),
  ).action(listSettings)
}

function switchCommand(name: 'on' | 'off', description: string): Command {
  const command = new Command(name).description(description).argument('<type>', 'the job type')
  return addClientOptions(addAuthorOption(command)).action((type: string, options: Decision, self: Command) =>
    decide(name, type, options, self),
  )
}

async function show(id: string, options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    if (!/^\d{1,19}$/.test(id)) throw new Refused(`"${oneLine(id, 40)}" is not the id of a job: expected a number.`)
    const events = await millrace.history(id)
    if (options.json) return printJson(events)
    if (events.length > 0)
      return print(table(['AT', 'EVENT', 'STATUS', 'ATTEMPT', 'BY', 'DETAIL'], events.map(eventRow)))
    const job = await millrace.job(id)
    if (job === undefined) throw new Refused(`There is no job ${id}, and no history of one: its time may be over.`)
    print(
      `Job ${id} has no history: none was kept of its type, ${oneLine(job.type, 100)}, while something happened to it. Declare history: 'full', or run \`millrace history on ${oneLine(job.type, 100)}\`.\n`,
    )
  })
}

function eventRow({ at, event, fromStatus, toStatus, attempt, by, workerId, detail }: JobEvent): string[] {
  const status = fromStatus === null || fromStatus === toStatus ? toStatus : `${fromStatus} → ${toStatus}`
  const decidedBy = by ?? (workerId === null ? '' : `worker ${workerId}`)
  return [at.toISOString(), event, status, String(attempt), oneLine(decidedBy, 50), oneLine(detail ?? '', 80)]
}

async function listSettings(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const settings = await millrace.historySettings.list()
    if (options.json) return printJson(settings)
    if (settings.length === 0) return print('No type has a history.\n')
    print(table(['TYPE', 'HISTORY', 'SET BY', 'WHEN'], settings.map(settingRow)))
  })
}

const settingRow = ({ type, isOn, setBy, setAt }: HistorySetting): string[] => [
  oneLine(type, 100),
  isOn ? 'full' : 'off',
  oneLine(setBy, 30),
  fromNow(setAt),
]

async function decide(name: 'on' | 'off', type: string, options: Decision, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    await millrace.historySettings[name](type, { by: options.by })
    if (options.json) return printJson({ type, history: name === 'on' ? 'full' : 'off' })
    print(
      name === 'on'
        ? `Every transition of ${oneLine(type, 100)} is kept from now on.\n`
        : `No more transitions of ${oneLine(type, 100)} are kept.\n`,
    )
  })
}
