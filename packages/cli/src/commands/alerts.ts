import { Command } from 'commander'
import { type Alert, type AlertSilence, prometheusRules } from 'millrace'
import { addClientOptions, addModuleOption, type ClientOptions, namedWorkload, withClient } from '../client.ts'
import { marked } from '../colours.ts'
import { fail } from '../failure.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import { addWatchOptions } from '../watch.ts'
import { addAuthorOption } from './retry.ts'

const help = `
Worker processes evaluate alerts every 15 s. An alert fires when its condition has held for as long as its rule says, and each queue,
type or service that it is about fires for itself. A silenced alert is listed, and nobody is told of it until the silence ends.
The page docs/operations.md says of each alert what it means and what to do.

Examples:
  millrace alerts                            what fires, since when, why, and what to do
  millrace alerts --all                      also what may fire soon, and what cleared within a day
  millrace alerts silence queue_depth --subject mail --for 2h --reason "a planned import"
  millrace alerts unsilence queue_depth --subject mail
  millrace alerts rules > millrace-rules.yaml
                                             the same alerts for Prometheus, with those of the workload
`

interface ListOptions extends ClientOptions {
  readonly all?: true
}

interface TargetOptions extends ClientOptions {
  readonly by: string
  readonly subject?: string
}

interface SilenceOptions extends TargetOptions {
  readonly for: string
  readonly reason: string
}

export function alertsCommand(): Command {
  return new Command('alerts')
    .summary('what fires and what to do about it; silence what you know of')
    .description('Show which alerts fire, silence them, or print them as rules for Prometheus.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(silenceCommand())
    .addCommand(unsilenceCommand())
    .addCommand(rulesCommand())
}

function listCommand(): Command {
  const command = new Command('list')
    .description('List the alerts that fire, the gravest first, and the silences.')
    .option('--all', 'also those that may fire soon, and those that cleared within a day')
  return addWatchOptions(addClientOptions(command)).action(list)
}

function silenceCommand(): Command {
  const command = named('silence')
    .description('Tell nobody of an alert for a while.')
    .requiredOption('--for <duration>', 'how long, like 2h')
    .requiredOption('--reason <text>', 'why: the list of alerts and the audit log have it')
  return addClientOptions(addAuthorOption(command)).action(silence)
}

function unsilenceCommand(): Command {
  const command = named('unsilence').description('End a silence. If the alert still fires, it is told now.')
  return addClientOptions(addAuthorOption(command)).action(unsilence)
}

function rulesCommand(): Command {
  const command = new Command('rules').description(
    'Print the alerts as rules for Prometheus: the built-in ones, and those of the workload. Needs no database.',
  )
  return addModuleOption(command).option('--json', 'print JSON').action(rules)
}

const named = (name: string): Command =>
  new Command(name)
    .argument('<alert>', 'the name of the alert')
    .option('--subject <subject>', 'only this queue, type or service; default: every one')

async function list(options: ListOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const alerts = await millrace.alerts.list(options.all ? { states: ['firing', 'pending', 'cleared'] } : {})
    const silences = await millrace.alerts.silences()
    if (options.json) return printJson({ alerts, silences })
    const quiet = options.all ? 'No alert fires, and none has fired within a day.\n' : 'No alert fires.\n'
    print(alerts.length === 0 ? quiet : alerts.map(alertText).join('\n'))
    if (silences.length > 0) print(`\nSilenced:\n${silences.map(silenceText).join('')}`)
  })
}

async function silence(name: string, options: SilenceOptions, command: Command): Promise<void> {
  const { by, reason, subject } = options
  await withClient(command, options, async ({ millrace }) => {
    const made = await millrace.alerts.silence(name, {
      ...{ by, reason, for: options.for as `${number}m` },
      ...(subject !== undefined && { subject }),
    })
    if (options.json) return printJson(made)
    print(`Alert ${nameOf(made)} is silenced; the silence ends ${fromNow(made.until)}.\n`)
  })
}

async function unsilence(name: string, options: TargetOptions, command: Command): Promise<void> {
  const { by, subject } = options
  await withClient(command, options, async ({ millrace }) => {
    const hasEnded = await millrace.alerts.unsilence(name, { by, ...(subject !== undefined && { subject }) })
    if (options.json) return printJson({ hasEnded })
    const target = nameOf({ name, subject: subject ?? null })
    print(hasEnded ? `The silence of alert ${target} has ended.\n` : `Alert ${target} was not silenced.\n`)
  })
}

async function rules(options: ClientOptions, command: Command): Promise<void> {
  try {
    const text = prometheusRules((await namedWorkload(options.module))?.alerts)
    if (options.json) printJson({ rules: text })
    else print(text)
  } catch (error) {
    fail(command, error)
  }
}

/** Four lines: what fires and since when, why, what to do, who owns it. */
function alertText(alert: Alert): string {
  const { name, subject, severity, state, why, action, link, since, firedAt, clearedAt, owner, silence } = alert
  const when = {
    firing: `fires since ${fromNow(firedAt)}`,
    pending: `holds since ${fromNow(since)}, does not fire yet`,
    cleared: `cleared ${fromNow(clearedAt)}`,
  }[state]
  const lines = [
    `${marked(severity === 'critical' ? 'bad' : 'warning', severity.toUpperCase())}  ${name}  ${oneLine(subject, 80)}  (${when})`,
    `  ${oneLine(why, 300)}`,
    ...(state === 'cleared' ? [] : [`  Do: ${action}`]),
    ...(owner === null ? [] : [`  Owner: ${[owner.name, owner.channel, owner.address].filter(Boolean).join(', ')}`]),
    ...(silence === null ? [] : [`  Silenced by ${oneLine(silence.by, 40)}: ${oneLine(silence.reason, 100)}`]),
    ...(link === null ? [] : [`  More: ${link}`]),
  ]
  return `${lines.join('\n')}\n`
}

const silenceText = (silence: AlertSilence): string =>
  `  ${nameOf(silence)}, until ${silence.until.toISOString()}, by ${oneLine(silence.by, 40)}: ${oneLine(silence.reason, 100)}\n`

const nameOf = ({ name, subject }: Pick<AlertSilence, 'name' | 'subject'>): string =>
  subject === null ? oneLine(name, 80) : `${oneLine(name, 80)} of ${oneLine(subject, 80)}`
