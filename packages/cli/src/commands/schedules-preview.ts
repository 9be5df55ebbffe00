import { Command, Option } from 'commander'
import { cron, type Duration, describeTiming, every, fires, type Timing, timingOf } from 'millrace'
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
`

interface Options {
  readonly every?: Duration
  readonly tz: string
  readonly from?: Date
  readonly count: number
  readonly json?: true
}

export function previewCommand(): Command {
  return new Command('preview')
    .summary('show when a cron expression or an interval fires')
    .description('Show when a cron expression or an interval fires. Needs no database.')
    .argument('[expression]', "like '0 8 * * *'")
    .addOption(new Option('--every <duration>', 'an interval instead, like 15m').argParser(parseDuration))
    .option('--tz <zone>', 'by whose clocks, like Europe/Helsinki', 'UTC')
    .addOption(
      new Option('--from <time>', 'not before this, like 2026-03-07T00:00:00Z; now otherwise').argParser(parseTime),
    )
    .addOption(new Option('--count <count>', 'how many').argParser(parseCount(1)).default(10))
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(preview)
}

function preview(expression: string | undefined, options: Options, command: Command): void {
  const { tz, count, from = new Date() } = options
  try {
    const timing = timingFrom(expression, options, from)
    const localTime = localTimeOf(tz)
    const found = Array.from(fires(timing, { from, count }), (at) => ({ at: at.toISOString(), local: localTime(at) }))
    if (options.json) printJson({ timing, description: describeTiming(timing), fires: found })
    else print(previewText(timing, found, options))
  } catch (error) {
    fail(command, error)
  }
}

function previewText(timing: Timing, found: { at: string; local: string }[], { tz, count }: Options): string {
  const rows = found.map(({ at, local }) => [at, tz === 'UTC' ? '' : local])
  const times = found.length === 0 ? '' : table(['UTC', tz], rows)
  const end =
    found.length === count ? '' : `${found.length === 0 ? 'From then on' : '\nThen'} it does not fire any more.\n`
  return `${describeTiming(timing)}\n\n${times}${end}`
}

function timingFrom(expression: string | undefined, { every: interval, tz }: Options, from: Date): Timing {
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
