import { Command } from 'commander'
import type { ScheduleDetails, ScheduleState, ScheduleTick } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { counted } from '../worker-process.ts'
import {
  backfillCommand,
  createCommand,
  editCommand,
  pauseCommand,
  removeCommand,
  resumeCommand,
  runCommand,
} from './schedules-actions.ts'
import { previewCommand } from './schedules-preview.ts'

const help = `
Schedules enqueue jobs at given times. Those of the code are there once a worker with that code has started; others are
created at run time. One that the code of no worker declares any more is orphaned: it does not fire, and can be removed.

Examples:
  millrace schedules                                      every schedule, and when it is next
  millrace schedules show nightly-report                  its last ticks, and what became of them
  millrace schedules pause nightly-report --reason "the source moves" --for 2h
  millrace schedules run nightly-report                   now, whatever its timing says
  millrace schedules backfill nightly-report --from 2026-11-01T00:00:00Z --to 2026-11-07T00:00:00Z
  millrace schedules create probe --type probe.run --every 15m --payload '{}'
  millrace schedules edit nightly-report --cron '0 3 * * *' --tz Europe/Helsinki
  millrace schedules edit nightly-report --as-code         what the code says counts again
  millrace schedules preview '0 8 * * *' --tz Europe/Helsinki    when would this fire?
`

export function schedulesCommand(): Command {
  return new Command('schedules')
    .summary('look at schedules, run, pause, create, edit and backfill them')
    .description('Look at schedules, run, pause, create, edit and backfill them.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(showCommand())
    .addCommand(previewCommand())
    .addCommand(runCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(backfillCommand())
    .addCommand(createCommand())
    .addCommand(editCommand())
    .addCommand(removeCommand())
}

function listCommand(): Command {
  const command = new Command('list').description('List the schedules, when they are next, and whether all is well.')
  return addWatchOptions(addClientOptions(command)).action(list)
}

function showCommand(): Command {
  const command = new Command('show')
    .description('Show a schedule and its last ticks.')
    .argument('<name>', 'the name of the schedule')
  return addWatchOptions(addClientOptions(command)).action(show)
}

async function list(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const schedules = await millrace.schedules.list()
    if (options.json) return printJson(schedules)
    if (schedules.length === 0) {
      return print(
        'There is no schedule. Declare one with defineSchedule and start a worker, or `millrace schedules create`.\n',
      )
    }
    print(table(['NAME', 'TYPE', 'WHEN', 'STATUS', 'NEXT', 'LAST', 'TROUBLE'], schedules.map(cells)))
  })
}

function cells(schedule: ScheduleState): string[] {
  const { name, jobType, description, isEdited, status, nextAt, lastTick } = schedule
  const next = status === 'active' || status === 'paused' ? fromNow(nextAt) : ''
  const last = lastTick === null ? '' : `${lastTick.outcome} ${fromNow(lastTick.fireAt)}`
  const when = isEdited ? `${description} (edited)` : description
  return [name, jobType, oneLine(when, 50), status, next, last, oneLine(troubleOf(schedule), 80)]
}

/** Beyond this nobody ticks it; a worker is late by milliseconds. */
const OVERDUE_MS = 60_000

function troubleOf(schedule: ScheduleState): string {
  const { failures, deadInARow, missed, pause, lastTick, overdueMs, nextAt, hidesCode } = schedule
  const troubles = [
    overdueMs < OVERDUE_MS ? '' : `overdue: it should have fired ${fromNow(nextAt)}`,
    hidesCode ? 'the code declares one of this name too, which does not fire' : '',
    pause === null ? '' : `paused by ${pause.by}: ${pause.reason}`,
    failures === 0 ? '' : `${counted(failures, 'failed tick')} in a row: ${lastTick?.reason ?? ''}`,
    deadInARow === 0 ? '' : `${counted(deadInARow, 'job')} died in a row`,
    missed === 0 ? '' : `${missed} missed since ever`,
  ]
  return troubles.filter((trouble) => trouble !== '').join('; ')
}

async function show(name: string, options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const schedule = await millrace.schedules.get(name)
    if (options.json) return printJson(schedule)
    const width = 10
    for (const [label, value] of facts(schedule))
      if (value !== '') print(`${label.padEnd(width)} ${oneLine(value, 500)}\n`)
    if (schedule.ticks.length === 0) return print('\nIt has not been ticked yet.\n')
    print(
      `\n${table(['FIRE TIME', 'ORIGIN', 'OUTCOME', 'JOB', 'LATE', 'BY', 'REASON'], schedule.ticks.map(tickCells))}`,
    )
  })
}

function facts(schedule: ScheduleDetails): [label: string, value: string][] {
  const { name, jobType, source, description, isEdited, options, payload, nextAt, lastJobs } = schedule
  const { missed, overlap, jitterMs, tenant, perTenant } = options
  return [
    ['name', name],
    ['job', jobType],
    ['source', source === 'code' ? `code, as ${schedule.declaredBy ?? 'some worker'} declared it` : 'run time'],
    ['when', isEdited ? `${description}, set by ${schedule.updatedBy} instead of what the code says` : description],
    ['status', schedule.status],
    ['next', nextAt?.toISOString() ?? ''],
    ['missed', `'${missed}'`],
    ['overlap', `'${overlap}'`],
    ['jitter', jitterMs === 0 ? '' : `up to ${jitterMs / 1_000} s`],
    ['tenant', perTenant ? 'one job for each' : (tenant ?? '')],
    ['payload', payload === null ? '' : oneLine(JSON.stringify(payload), 200)],
    ['trouble', oneLine(troubleOf(schedule), 200)],
    ['last jobs', lastJobs.map(({ id, status }) => `${id} ${status}`).join(', ')],
  ]
}

function tickCells(tick: ScheduleTick): string[] {
  const { fireAt, origin, outcome, jobId, jobs, refused, missed, latenessMs, by, reason } = tick
  const many = jobs > 1 || refused > 0 ? `${jobs} jobs${refused > 0 ? `, ${refused} refused` : ''}` : ''
  const late = origin === 'due' && outcome !== 'missed' ? `${(latenessMs / 1_000).toFixed(1)}s` : ''
  const what = missed > 0 ? `${missed} missed` : outcome
  return [fireAt.toISOString(), origin, what, jobId ?? many, late, oneLine(by, 40), oneLine(reason, 80)]
}
