// The screen of `millrace top`, as lines of text. Pure: what is shown follows from the reading, the choice and the size.
import { cutTo } from '../colours.ts'
import { duration, fromNow, oneLine } from '../print.ts'
import { table } from '../table.ts'
import type { LaneRow, QueueRow, Reading } from './reading.ts'

export interface View {
  readonly reading: Reading
  readonly database: string
  readonly intervalMs: number
  /** The chosen row: queues first, then runs. */
  readonly chosen: number
  /** What the last key brought, or what went wrong; empty: nothing to say. */
  readonly notice: string
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** What a row of the screen stands for. */
export type Choice = { readonly queue: QueueRow } | { readonly jobId: string }

export function choicesOf({ queues, runs }: Reading): Choice[] {
  return [...queues.map((queue) => ({ queue })), ...runs.map(({ jobId }) => ({ jobId }))]
}

const KEYS = '↑↓ choose   p pause or resume the queue   enter open the job   r read now   q quit'
const BAR = 10
/** Nobody's screen is higher: the keys stand at its foot. */
const MOST_ROWS = 500

/** At most as many lines as the screen has, none longer than it is wide. */
export function screen(view: View, { columns, rows }: Size): string[] {
  const { reading, chosen, notice } = view
  const { queues, runs } = reading
  const mark = (index: number) => (index === chosen ? '▸' : '·')
  const body = [
    titleOf(view),
    '',
    ...section(
      ['', 'QUEUE', 'WAITING', 'DUE', 'OLDEST', 'RUNNING', 'DEAD', 'ENDED/H', 'WAIT P95', 'STATE'],
      queues.map((row, i) => [mark(i), ...queueCells(row)]),
      'No worker has declared a queue, and no job waits. Start one: millrace dev dist/workload.js',
    ),
    '',
    ...(reading.lanes.length === 0 ? ['No worker runs: jobs wait until one does.'] : reading.lanes.map(laneLine)),
    ...titled(
      'RUNNING LONGEST',
      ['', 'JOB', 'TYPE', 'STARTED', 'HOST'],
      runs.map(({ jobId, type, since, host }, i) => [
        mark(queues.length + i),
        jobId,
        oneLine(type, 40),
        fromNow(since),
        oneLine(host, 30),
      ]),
    ),
    ...titled(
      'FAILING, LAST HOUR',
      ['TYPE', 'QUEUE', 'FAILED', 'DEAD', 'CRASHED', 'COMPLETED'],
      reading.failing.map(({ type, queue, lastHour }) => [
        oneLine(type, 40),
        oneLine(queue, 30),
        ...[lastHour.failed, lastHour.dead, lastHour.crashed, lastHour.completed].map(count),
      ]),
    ),
    ...titled(
      'SLOWEST, LAST HOUR',
      ['TYPE', 'QUEUE', 'P50', 'P95', 'P99'],
      reading.slow.map(({ type, queue, lastHour }) => [
        oneLine(type, 40),
        oneLine(queue, 30),
        ...[lastHour.durationP50Ms, lastHour.durationP95Ms, lastHour.durationP99Ms].map(duration),
      ]),
    ),
    ...titled(
      'TENANTS',
      ['TENANT', 'QUEUE', 'WAITING', 'OLDEST DUE', 'RUNNING', 'WAIT P95'],
      reading.tenants.map((row) => [
        oneLine(row.tenant, 40),
        oneLine(row.queue, 30),
        count(row.waiting),
        fromNow(row.oldestDueAt),
        count(row.running),
        duration(row.waitP95Ms),
      ]),
    ),
  ]
  const foot = [notice, KEYS]
  const room = Math.max(1, rows - foot.length)
  const fits = body.slice(0, room)
  const space = Array.from({ length: Math.min(room - fits.length, MOST_ROWS) }, () => '')
  // Cells are safe already; cutting at the edge keeps the columns where they are.
  return [...fits, ...space, ...foot].slice(0, rows).map((line) => cutTo(line, columns))
}

function titleOf({ reading: { at, workers, quiet, lanes }, database, intervalMs }: View): string {
  const slots = lanes.reduce((sum, lane) => sum + lane.slots, 0)
  const busy = lanes.reduce((sum, lane) => sum + lane.running, 0)
  const time = at.toISOString().slice(11, 19)
  const people = `${workers} ${workers === 1 ? 'worker' : 'workers'}${quiet > 0 ? ` (${quiet} quiet)` : ''}`
  return `millrace top   ${database}   ${time} UTC, every ${duration(intervalMs)}   ${people}, ${busy} of ${slots} slots busy`
}

function queueCells({
  queue,
  waiting,
  due,
  oldestDueAt,
  running,
  dead,
  finished,
  waitP95Ms,
  pauses,
}: QueueRow): string[] {
  const state = pauses.length === 0 ? '' : `paused by ${pauses.map(({ by }) => oneLine(by, 20)).join(', ')}`
  return [
    oneLine(queue, 30),
    count(waiting),
    count(due),
    fromNow(oldestDueAt),
    ...[running, dead, finished].map(count),
    duration(waitP95Ms),
    state,
  ]
}

/** "mail  ██████░░░░  6 of 10". */
function laneLine({ name, slots, running }: LaneRow): string {
  const full = slots === 0 ? 0 : Math.min(BAR, Math.ceil((running / slots) * BAR))
  return `${oneLine(name, 24).padEnd(24)}  ${'█'.repeat(full)}${'░'.repeat(BAR - full)}  ${running} of ${slots} slots`
}

function titled(title: string, titles: readonly string[], rows: readonly string[][]): string[] {
  return rows.length === 0 ? [] : ['', title, ...linesOf(titles, rows)]
}

function section(titles: readonly string[], rows: readonly string[][], empty: string): string[] {
  return rows.length === 0 ? [empty] : linesOf(titles, rows)
}

const linesOf = (titles: readonly string[], rows: readonly string[][]): string[] =>
  table(titles, rows).trimEnd().split('\n')

const count = (value: number): string => value.toLocaleString('en-US')
