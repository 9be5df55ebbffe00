import { expect, test, vi } from 'vitest'
import { bench as run } from './run-bench.ts'

// Not slow, but it competes with every other test for the machine.
vi.setConfig({ testTimeout: 120_000 })

const bench = (...args: string[]) => run(args)

const spread = {
  name: expect.any(String),
  median: expect.any(Number),
  min: expect.any(Number),
  max: expect.any(Number),
  values: [expect.any(Number), expect.any(Number)],
}

test.each([
  [
    'drain',
    [
      'millrace, defaults, 50 slots',
      'raw loop, 500 + 500',
      'our statements, 500 + 500',
      'millrace, handlers of 10 ms',
      '50 bare timers of 10 ms',
    ],
  ],
  [
    'enqueue',
    [
      'raw insert, 1,000 rows',
      'raw insert, one row',
      'enqueueMany, 1,000 jobs',
      'enqueue, 1 in flight',
      'enqueue, 16 in flight',
      'enqueue, 256 in flight',
    ],
  ],
  ['traces', ['no tracing in the engine', 'API only', 'SDK, 1 % kept', 'SDK, all kept']],
])('%s measures every contestant in every round and prints one JSON document', async (suite, names) => {
  const { code, out, err } = await bench(suite, '--json', '--rounds', '2', '--jobs', '600')
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  const report = JSON.parse(out)
  expect(report).toMatchObject({
    suite,
    startedAt: expect.stringMatching(/^\d{4}-/),
    options: { rounds: 2, jobs: 600 },
    environment: { node: process.versions.node, settings: { fsync: expect.any(String) } },
  })
  expect(report.measurements.map(({ name }: { name: string }) => name)).toEqual(names)
  for (const measurement of report.measurements) {
    expect(measurement).toEqual({ ...spread, unit: 'jobs/s' })
    expect(measurement.min).toBeGreaterThan(0)
  }
  for (const ratio of report.ratios) expect(ratio).toMatchObject(spread)
  expect(err).toMatch(/warm-up .*\n(.*\n)*round 2\/2/)
})

test('lanes measures how long a quick job waits, in milliseconds', async () => {
  const { code, out } = await bench('lanes', '--json', '--rounds', '1', '--jobs', '3')
  expect(code).toBe(0)
  const { measurements } = JSON.parse(out)
  expect(measurements).toMatchObject(Array.from({ length: 3 }, () => ({ unit: 'ms', median: expect.any(Number) })))
})

test('without --json there is a table', async () => {
  const { out } = await bench('drain', '--rounds', '1', '--jobs', '200')
  expect(out).toMatch(/^drain: 1 rounds of 200 jobs\nNode .*PostgreSQL.*\nfsync o/)
  expect(out).toMatch(/^millrace \/ raw loop +\d.* % .*target ≥ 80 %, (met|missed)$/m)
})

test('without a suite there is the list of them', async () => {
  expect(await bench()).toMatchObject({ code: 0, out: expect.stringMatching(/^ {2}drain +a backlog of trivial jobs/m) })
})

test('an unknown suite, a wrong number or an option of another suite shows the usage', async () => {
  expect(await bench('drian')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/There is no suite "drian"\./),
  })
  expect(await bench('drain', '--rounds', 'many')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/usage: npm run/),
  })
  expect(await bench('drain', '--seconds', '3')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^drain has no --seconds\.\n\nusage/),
  })
})
