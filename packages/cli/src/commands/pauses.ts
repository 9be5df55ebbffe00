import { Command, Option } from 'commander'
import { type Duration, type Job, type Pause, type PauseTarget, pausesOf, type Resumption } from 'millrace'
import { addModuleOption, addRemoteOptions, type ClientOptions, withClientOrApi } from '../client.ts'
import { argument, fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { addAuthorOption } from './retry.ts'
import { parseDuration } from './worker-options.ts'

const help = `
What is paused is not taken by any worker; it waits, and what runs goes on. Name a queue, a job type, a tenant, or several
of them: then what belongs to all of them is paused. Each person has a pause of their own: jobs wait while any of them lasts.

Examples:
  millrace pause --queue bulk --reason "the import runs" --for 1h
  millrace pause --type invoice.send --tenant acme --reason "wrong prices"
  millrace pauses                            what is paused, by whom and why
  millrace resume --queue bulk               end your own pause, and list those of others
  millrace resume --queue bulk --all         end them all
`

interface TargetOptions extends ClientOptions {
  readonly queue?: string
  readonly type?: string
  readonly tenant?: string
  readonly by: string
}

interface ResumeCommandOptions extends TargetOptions {
  readonly all?: boolean
}

interface PauseCommandOptions extends TargetOptions {
  readonly reason: string
  readonly for?: Duration
}

export function pauseCommand(): Command {
  const command = addTarget(new Command('pause'))
    .summary('stop taking jobs of a queue, a type or a tenant')
    .description('Stop taking jobs of a queue, a type or a tenant.')
    .requiredOption('--reason <text>', 'why: whoever asks why a job does not run is told')
    .addOption(new Option('--for <duration>', 'end it by itself after so long, like 1h').argParser(parseDuration))
  return addModuleOption(addRemoteOptions(addAuthorOption(command)))
    .addHelpText('after', help)
    .action(pause)
}

export function resumeCommand(): Command {
  const command = addTarget(new Command('resume'))
    .summary('end your pause of a queue, a type or a tenant')
    .description('End your own pause, and list those of others. Name what was paused, as `millrace pauses` lists it.')
    .option('--all', 'end the pauses of everybody')
  return addRemoteOptions(addAuthorOption(command)).addHelpText('after', help).action(resume)
}

export function pausesCommand(): Command {
  const command = new Command('pauses')
    .summary('what is paused, by whom and why')
    .description('List what is paused, by whom and why, oldest first.')
  return addWatchOptions(addRemoteOptions(command)).action(list)
}

const addTarget = (command: Command): Command =>
  command
    .option('--queue <queue>', 'jobs of this queue')
    .option('--type <type>', 'jobs of this type')
    .option('--tenant <tenant>', 'jobs of this tenant')

const targetOf = ({ queue = null, type = null, tenant = null }: PauseTarget) => ({ queue, type, tenant })

async function pause(options: PauseCommandOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) => {
    const paused = await millrace.pauses.pause(targetOf(options), {
      reason: options.reason,
      by: options.by,
      ...(options.for !== undefined && { for: options.for }),
    })
    if (options.json) return printJson(paused)
    const end =
      paused.expiresAt === null ? `Resume it with: ${resumeCall(paused)}` : `It ends ${fromNow(paused.expiresAt)}.`
    print(`Paused: ${words(paused)}. ${end}\n`)
  })
}

async function resume(options: ResumeCommandOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace, author }) => {
    const { by, all = false } = options
    const target = targetOf(options)
    const resumption = await millrace.pauses.resume(target, { by, all })
    if (resumption.ended.length === 0) process.exitCode = 1
    if (options.json) return printJson(resumption)
    print(outcome(target, resumption, await author(by)))
  })
}

function outcome(target: PauseTarget, { ended, others }: Resumption, by: string): string {
  const what = words(target)
  if (others.length === 0)
    return ended.length > 0 ? `Resumed: ${what}.\n` : `Not paused: ${what}. \`millrace pauses\` lists what is.\n`
  const own = ended.length > 0 ? `Ended the pause by ${oneLine(by, 40)}.` : `There is no pause by ${oneLine(by, 40)}.`
  return `${own} Still paused: ${what}. Others paused it:\n${pauseTable(others)}End all of them with: ${resumeCall(target)} --all\n`
}

async function list(options: ClientOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) => {
    const pauses = await millrace.pauses.list()
    if (options.json) return printJson(pauses)
    if (pauses.length === 0) return print('Nothing is paused.\n')
    print(pauseTable(pauses))
  })
}

const pauseTable = (pauses: readonly Pause[]): string =>
  table(['QUEUE', 'TYPE', 'TENANT', 'SINCE', 'ENDS', 'BY', 'REASON'], pauses.map(cells))

function cells({ queue, type, tenant, createdAt, expiresAt, by, reason }: Pause): string[] {
  const names = [queue, type, tenant].map((name) => oneLine(name, 40))
  return [...names, fromNow(createdAt), fromNow(expiresAt), oneLine(by, 40), oneLine(reason, 80)]
}

/** "queue bulk, tenant acme". */
const words = (target: PauseTarget): string =>
  Object.entries(targetOf(target))
    .flatMap(([kind, name]) => (name === null ? [] : `${kind} ${oneLine(name, 80)}`))
    .join(', ')

const resumeCall = (target: PauseTarget): string =>
  [
    'millrace resume',
    ...Object.entries(targetOf(target)).flatMap(([kind, name]) => (name === null ? [] : `--${kind} ${argument(name)}`)),
  ].join(' ')

/** "by ann: no toner", "tenant acme by bob: wrong prices": what is paused, if it is less than the whole row. */
export function pausedBy(pauses: readonly Pause[]): string {
  return pauses
    .map(({ type, tenant, by, reason }) => `${part({ type, tenant })}by ${oneLine(by, 40)}: ${oneLine(reason, 60)}`)
    .join('; ')
}

const part = ({ type, tenant }: PauseTarget): string =>
  [type && `type ${oneLine(type, 40)} `, tenant && `tenant ${oneLine(tenant, 40)} `].filter(Boolean).join('')

/** Those of the pauses that keep this job from being taken: it waits. */
export function holding(pauses: readonly Pause[], job: Job): Pause[] {
  const isWaiting = job.finishedAt === null && job.status !== 'processing'
  return isWaiting ? pausesOf(pauses, job) : []
}
