import { createMillrace, defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { type ReadFamily, readPage } from '../../telemetry/test/support/open-metrics.ts'
import { fixture, Program } from './support/program.ts'
import { event } from './support/supervised.ts'

// The contract of fixtures/measured.js, as a program that only enqueues would have it.
const queues = defineQueues({ high: { title: 'HIGH', concurrency: 2 } })
const measure = defineJob({ type: 'measure', queue: queues.high, payload: z.object({ value: z.number() }) })

/** A command with the workload measured.js, on a database of its own. */
async function setup(command: string, ...options: string[]) {
  const database = await freshDatabase()
  const millrace = createMillrace({ database: database.url, jobs: [measure] })
  const program = new Program([command, fixture('measured.js'), '--port', '0', '--host', '127.0.0.1', ...options], {
    DATABASE_URL: database.url,
  })
  return {
    program,
    millrace,
    /** Runs one job for each value. */
    async measure(...values: number[]): Promise<void> {
      const jobs = await millrace.enqueueMany(
        measure,
        values.map((value) => ({ value })),
      )
      await Promise.all(jobs.map(({ id }) => millrace.result(id)))
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]()
      await millrace.close()
      await database.drop()
    },
  }
}

async function scrape(url: string): Promise<Map<string, ReadFamily>> {
  const response = await fetch(url, { headers: { accept: 'application/openmetrics-text' } })
  expect(response.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
  return readPage(await response.text(), { isOpenMetrics: true })
}

/** The sum of the samples of that name with these labels. */
function total(families: Map<string, ReadFamily>, name: string, where: Record<string, string> = {}): number {
  return [...families.values()]
    .flatMap(({ samples }) => samples)
    .filter((sample) => sample.name === name)
    .filter(({ labels }) => Object.entries(where).every(([key, value]) => labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0)
}

const valuesOf = (families: Map<string, ReadFamily>, name: string, label: string) =>
  families.get(name)?.samples.map(({ labels }) => labels[label])

test('work --port serves the metrics of the engine and of the workload', async () => {
  await using t = await setup('work')
  const { health } = await t.program.logged(({ health }) => health !== undefined)
  const url = new URL('/metrics', String(health)).href
  await t.measure(1, 2, 3)
  const page = await scrape(url)
  expect(total(page, 'measured_total', { parity: 'odd' })).toBe(2)
  expect(total(page, 'measured_seconds_bucket', { le: '1.0' })).toBe(1)
  expect(total(page, 'job_execution_duration_seconds_count', { queue: 'HIGH', status: 'success' })).toBe(3)
  expect(total(page, 'millrace_worker_slots', { lane: 'high' })).toBe(2)
  await expect.poll(async () => valuesOf(await scrape(url), 'queue_depth', 'queue')).toEqual(['HIGH'])
  const plain = await fetch(url)
  expect(plain.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(readPage(await plain.text(), { isOpenMetrics: false }).get('measured_total')?.type).toBe('counter')
})

test('dev serves them, too', async () => {
  await using t = await setup('dev')
  const [, health = ''] = await t.program.said(/Health +(\S+)/)
  await t.measure(4)
  const page = await scrape(new URL('/metrics', health).href)
  expect(total(page, 'measured_total', { parity: 'even' })).toBe(1)
  expect(page.has('job_queue_backlog_total')).toBe(true)
})

// It starts four processes, one after the other.
test('a supervisor serves one page of all its processes, on which no counter falls when a process dies', {
  timeout: 90_000,
}, async () => {
  await using t = await setup('work', '--processes', '2')
  await t.program.logged(() => t.program.lines.filter(event('process_ready')).length === 2)
  const { health } = await t.program.logged(({ health }) => health !== undefined)
  const url = new URL('/metrics', String(health)).href
  await t.measure(1, 2, 3, 4, 5, 6)
  const before = await scrape(url)
  expect(total(before, 'measured_total')).toBe(6)
  expect(total(before, 'measured_seconds_count')).toBe(6)
  expect(total(before, 'jobs_completed_total', { status: 'success' })).toBe(6)
  expect(total(before, 'millrace_worker_slots', { lane: 'high' })).toBe(4)
  expect(total(before, 'millrace_build_info')).toBe(1)
  expect(valuesOf(before, 'millrace_worker_memory_ratio', 'process')?.sort()).toEqual(['1', '2'])
  // One of the two has read the database.
  await expect.poll(async () => valuesOf(await scrape(url), 'queue_depth', 'queue')).toEqual(['HIGH'])

  const { processPid } = await t.program.logged(event('process_ready'))
  process.kill(processPid as number, 'SIGKILL')
  await t.program.logged(event('process_died'))
  expect(total(await scrape(url), 'measured_total')).toBe(6)
  await t.program.logged(() => t.program.lines.filter(event('process_ready')).length === 3)
  await t.measure(7)
  const after = await scrape(url)
  expect(total(after, 'measured_total')).toBe(7)
  expect(total(after, 'millrace_worker_slots', { lane: 'high' })).toBe(4)
})
