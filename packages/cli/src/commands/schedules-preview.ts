import { Command, Option } from 'commander'
import { cron, type Duration, describeTiming, every, fires, type Timing, timingOf } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { fail, Refused } from '../failure.ts'
import { print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { parseTime } from './enqueue.ts'
import { parseCount, parseDuration } from './worker-options.ts'

const help = `
An expression has 5 fields (minute hour day month weekday), 6 with seconds in front, or the Quartz form with \`?\` for one of
the days. Quote it: the shell has its own meaning for \`*\`.

Where clocks are set forward, a fixed time that they skip fires at the end of the gap; where they are set back, a fixed time
fires once. Expressions with \`*\`, a range or a step in their time of day fire by real time.

Examples:
  millrace schedules preview '0 8 * * *' --tz Europe/Helsinki
  millrace schedules preview '30 2 * * *' --tz America/New_York --from 2026-03-07T00:00:00Z --count 3
  millrace schedules preview '0 0 8 ? * MON-FRI' --json
  millrace schedules preview --every 15m
  millrace schedules preview nightly-report      a schedule of the database, with its calendar and its holidays
`

interface Options extends ClientOptions {
  readonly every?: Duration
  readonly tz?: string
  readonly from?: Date
  readonly count: number
}

export function previewCommand(): Command {
  const command = new Command('preview')
    .summary('show when a schedule, a cron expression or an interval fires')
    .description('Show when a schedule, a cron expression or an interval fires. Only a schedule needs the database.')
    .argument('[expression]', "like '0 8 * * *', or the name of a schedule")
    .addOption(new Option('--every <duration>', 'an interval instead, like 15m').argParser(parseDuration))
    .option('--tz <zone>', 'by whose clocks, like Europe/Helsinki; default: UTC, of a schedule its own zone')
    .addOption(
      new Option('--from <time>', 'not before this, like 2026-03-07T00:00:00Z; now otherwise').argParser(parseTime),
    )
    .addOption(new Option('--count <count>', 'how many').argParser(parseCount(1)).default(10))
  return addClientOptions(command).addHelpText('after', help).action(preview)
}

async function preview(given: string | undefined, options: Options, command: Command): Promise<void> {
  if (given !== undefined && options.every === undefined && isName(given)) return previewNamed(given, options, command)
  const { tz = 'UTC', count, from = new Date() } = options
  try {
    const timing = timingFrom(given, options, from)
    show({ timing, times: [...fires(timing, { from, count })], tz }, options)
  } catch (error) {
    fail(command, error)
  }
}

/** Expressions have several fields; the macros, like `@daily`, begin with a sign that no name has. */
const isName = (text: string): boolean => /^[^@\s]\S*$/.test(text)

function previewNamed(name: string, options: Options, command: Command): Promise<void> {
  return withClient(command, options, async ({ millrace }) => {
    const { count, from } = options
    const { timing } = await millrace.schedules.get(name)
    const times = await millrace.schedules.preview(name, { count, ...(from !== undefined && { from }) })
    const tz = options.tz ?? ('timeZone' in timing ? timing.timeZone : 'UTC')
    // Checks the zone.
    cron('@daily', { timeZone: tz })
    show({ timing, times, tz }, options)
  })
}

interface Preview {
  readonly timing: Timing
  readonly times: readonly Date[]
  readonly tz: string
}

function show({ timing, times, tz }: Preview, { json, count }: Options): void {
  const localTime = localTimeOf(tz)
  const found = times.map((at) => ({ at: at.toISOString(), local: localTime(at) }))
  if (json) printJson({ timing, description: describeTiming(timing), fires: found })
  else print(previewText(timing, found, { tz, count }))
}

type Fire = { readonly at: string; readonly local: string }

function previewText(timing: Timing, found: readonly Fire[], { tz, count }: { tz: string; count: number }): string {
  const rows = found.map(({ at, local }) => [at, tz === 'UTC' ? '' : local])
  const times = found.length === 0 ? '' : table(['UTC', tz], rows)
  const end =
    found.length === count ? '' : `${found.length === 0 ? 'From then on' : '\nThen'} it does not fire any more.\n`
  return `${describeTiming(timing)}\n\n${times}${end}`
}

function timingFrom(expression: string | undefined, { every: interval, tz = 'UTC' }: Options, from: Date): Timing {
  // Checks the zone also where only the local times need it.
  const when = cron(expression ?? '@daily', { timeZone: tz })
  if ((expression === undefined) === (interval === undefined))
    throw new Refused("Give either an expression, quoted, like '0 8 * * *', or an interval: --every 15m.")
  return timingOf(interval === undefined ? when : every(interval), { now: from })
}

/** "Sun 2026-03-08 03:00:00 GMT-4". */
function localTimeOf(timeZone: string): (time: Date) => string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    ...{ weekday: 'short', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'shortOffset' },
  })
  return (time) => {
    const part = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]))
    const { weekday, year, month, day, hour, minute, second, timeZoneName } = part
    return `${weekday} ${year}-${month}-${day} ${hour}:${minute}:${second} ${timeZoneName}`
  }
}
