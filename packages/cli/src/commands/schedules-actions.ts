// What changes schedules: each with who decides, written into the audit log.
import { Command, Option } from 'commander'
import {
  cron,
  type Duration,
  every,
  type Millrace,
  type MissedPolicy,
  type OverlapPolicy,
  type ScheduleState,
  type When,
} from 'millrace'
import { addClientOptions, addModuleOption, type ClientOptions, demandWorkload, withClient } from '../client.ts'
import { Refused } from '../failure.ts'
import { parsePayload } from '../json-argument.ts'
import { fromNow, print, printJson } from '../print.ts'
import { safeLine } from '../terminal.ts'
import { parseTime } from './enqueue.ts'
import { addAuthorOption } from './retry.ts'
import { parseCount, parseDuration } from './worker-options.ts'

interface Decision extends ClientOptions {
  readonly by: string
}

type Act<Options> = (
  millrace: Millrace,
  name: string,
  options: Options,
) => Promise<{ value: unknown; sentence: string }>

/** Whether the workload is needed, because it makes or checks the payload; of an edit only where none of it declares the schedule. */
type Code = 'not needed' | 'needed' | 'needed at run time'

/** A command about one schedule. */
function acting<Options extends Decision>(command: Command, act: Act<Options>, code: Code = 'not needed'): Command {
  const named = addClientOptions(addAuthorOption(command.argument('<name>', 'the name of the schedule')))
  return (code === 'not needed' ? named : addModuleOption(named)).action((name: string, options: Options) =>
    withClient(command, options, async ({ millrace, workload }) => {
      const isNeeded =
        code === 'needed' ||
        (code === 'needed at run time' && (await millrace.schedules.get(name)).source === 'runtime')
      if (isNeeded) demandWorkload(workload, 'The payload is made and checked')
      const { value, sentence } = await act(millrace, name, options)
      if (options.json) printJson(value)
      else print(`${safeLine(sentence)}\n`)
    }),
  )
}

export function runCommand(): Command {
  const command = new Command('run').description('Enqueue its job now. When it is next stays as it was.')
  return acting(
    command,
    async (millrace, name, { by }) => {
      const value = await millrace.schedules.run(name, { by })
      const { outcome, jobId, jobs, reason } = value
      if (outcome !== 'enqueued') process.exitCode = 1
      const what = jobId === null ? `${jobs} jobs` : `job ${jobId}`
      return { value, sentence: outcome === 'enqueued' ? `Enqueued ${what}.` : `${outcome}: ${reason}` }
    },
    'needed',
  )
}

interface PauseOptions extends Decision {
  readonly reason: string
  readonly for?: Duration
  readonly until?: Date
}

export function pauseCommand(): Command {
  const command = new Command('pause')
    .description('Let it not fire, until it is resumed or for a while. What it would have done is not made up for.')
    .requiredOption('--reason <text>', 'why: whoever asks is told')
    .addOption(new Option('--for <duration>', 'end it by itself after so long, like 2h').argParser(parseDuration))
    .addOption(new Option('--until <time>', 'or at this time').argParser(parseTime).conflicts('for'))
  return acting<PauseOptions>(command, async (millrace, name, options) => {
    const { reason, by, for: lasting, until } = options
    const end = { ...(lasting !== undefined && { for: lasting }), ...(until !== undefined && { until }) }
    const value = await millrace.schedules.pause(name, { reason, by, ...end })
    const ends = value.pause?.until ?? null
    const rest = ends === null ? `Resume it with: millrace schedules resume ${name}` : `It ends ${fromNow(ends)}.`
    return { value, sentence: `Schedule "${name}" is paused. ${rest}` }
  })
}

export function resumeCommand(): Command {
  const command = new Command('resume').description('Let it fire again, from its next time on.')
  return acting(command, async (millrace, name, { by }) => {
    const value = await millrace.schedules.resume(name, { by })
    return { value, sentence: `Schedule "${name}" fires again: next ${value.nextAt?.toISOString() ?? 'never'}.` }
  })
}

interface BackfillOptions extends Decision {
  readonly from: Date
  readonly to: Date
  readonly force?: true
}

export function backfillCommand(): Command {
  const command = new Command('backfill')
    .description(
      'Tick the fire times of a range that were missed or failed, or lie before the schedule. At most 1,000.',
    )
    .addOption(new Option('--from <time>', 'the first fire time').argParser(parseTime).makeOptionMandatory())
    .addOption(new Option('--to <time>', 'the last').argParser(parseTime).makeOptionMandatory())
    .option('--force', 'also what is more than 30 days old, whose jobs may be enqueued twice')
  return acting<BackfillOptions>(
    command,
    async (millrace, name, { from, to, by, force = false }) => {
      const value = await millrace.schedules.backfill(name, { from, to, by, force })
      const { fires, before, enqueued, skipped, failed } = value
      if (failed > 0) process.exitCode = 1
      const counts = `${enqueued} enqueued, ${before} ticked before, ${skipped} skipped, ${failed} failed`
      return { value, sentence: `${fires} fire times: ${counts}.` }
    },
    'needed',
  )
}

export function removeCommand(): Command {
  const command = new Command('remove').description(
    'Remove a schedule that was created at run time, or is orphaned. Its jobs stay.',
  )
  return acting(command, async (millrace, name, { by }) => {
    await millrace.schedules.remove(name, { by })
    return { value: { removed: name }, sentence: `Schedule "${name}" is removed.` }
  })
}

/** What a schedule that is in no code is made of. */
interface Parts extends Decision {
  readonly payload?: unknown
  readonly cron?: string
  readonly tz: string
  readonly every?: Duration
  readonly missed?: MissedPolicy
  readonly overlap?: OverlapPolicy
  readonly jitter?: Duration
  readonly tenant?: string
  readonly perTenant?: true
  readonly priority?: number
}

function addParts(command: Command): Command {
  return command
    .option('--cron <expression>', "when, like '0 8 * * *'")
    .option('--tz <zone>', 'by whose clocks, like Europe/Helsinki', 'UTC')
    .addOption(new Option('--every <duration>', 'or an interval, like 15m').argParser(parseDuration).conflicts('cron'))
    .addOption(new Option('--missed <policy>', 'of fire times that passed').choices(['skip', 'once', 'all']))
    .addOption(new Option('--overlap <policy>', 'while a job is not done').choices(['allow', 'skip', 'queue']))
    .addOption(new Option('--jitter <duration>', 'start each job up to so much later').argParser(parseDuration))
    .option('--tenant <tenant>', 'whose jobs they are')
    .option('--per-tenant', 'one job for each active tenant')
    .addOption(new Option('--priority <priority>', 'of its jobs').argParser(parseCount(0)))
}

/** Those that were given. */
function partsOf(given: Parts) {
  const { missed, overlap, jitter, tenant, perTenant, priority, payload } = given
  const when = whenOf(given)
  const parts = { missed, overlap, jitter, tenant, perTenant, priority, payload, when }
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined))
}

function whenOf({ cron: expression, tz, every: interval }: Parts): When | undefined {
  if (expression !== undefined) return cron(expression, { timeZone: tz })
  return interval === undefined ? undefined : every(interval)
}

const payloadOption = () => new Option('--payload <json>', 'of its jobs').argParser(parsePayload)

interface CreateOptions extends Parts {
  readonly type: string
  readonly payload: unknown
}

export function createCommand(): Command {
  const command = new Command('create')
    .description('Create a schedule that is in no code. Workers that run its job type tick it.')
    .requiredOption('--type <type>', 'the type of its jobs')
    .addOption(payloadOption().makeOptionMandatory())
  return acting<CreateOptions>(addParts(command), create, 'needed')
}

const create: Act<CreateOptions> = async (millrace, name, given) => {
  const { type, payload, by } = given
  const when = whenOf(given)
  if (when === undefined)
    throw new Refused("Give either --cron, quoted, like --cron '0 8 * * *', or an interval: --every 15m.")
  const value = await millrace.schedules.create({ ...partsOf(given), name, type, payload, by, when })
  return { value, sentence: firesNext(value) }
}

interface EditOptions extends Parts {
  readonly asCode?: true
}

export function editCommand(): Command {
  const command = new Command('edit')
    .description('Give a schedule another timing; one that is in no code also another payload and other options.')
    .option('--as-code', 'let what the code says count again')
    .addOption(payloadOption())
  return acting<EditOptions>(addParts(command), edit, 'needed at run time')
}

const edit: Act<EditOptions> = async (millrace, name, given) => {
  const { by, asCode } = given
  const parts = partsOf(given)
  if (asCode && parts.when !== undefined) throw new Refused('Give either --as-code or another timing, not both.')
  if (!asCode && Object.keys(parts).length === 0)
    throw new Refused('Nothing is to be edited. Give another timing, like --every 15m, or an option: see --help.')
  const value = await millrace.schedules.edit(name, { ...parts, ...(asCode && { when: null }), by })
  return { value, sentence: firesNext(value) }
}

const firesNext = ({ name, description, nextAt }: ScheduleState): string =>
  `Schedule "${name}" fires ${description}: next ${nextAt?.toISOString() ?? 'when it is resumed'}.`
