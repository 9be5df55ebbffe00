import { expect, test } from 'vitest'
import { bench, names, reportOf } from './run-bench.ts'

test('idle counts the statements of a worker that rests, and its processor time', async () => {
  const args = ['idle', '--rounds', '1', '--jobs', '20', '--seconds', '3']
  // Three seconds need not see a heartbeat, nor a statement while LISTEN is healthy.
  const mayBeZero = /heartbeats|LISTEN healthy, other|CPU of the server/
  const { measurements, details } = await reportOf(args, { ownServer: true, mayBeZero })
  const figures = ['heartbeats', 'other statements', 'CPU of the worker']
  if (process.platform === 'linux') figures.push('CPU of the server')
  expect(names(measurements)).toEqual(
    ['LISTEN healthy', 'polling'].flatMap((name) => figures.map((figure) => `${name}, ${figure}`)),
  )
  expect(measurements[1]).toMatchObject({ unit: 'statements/min', target: { atMost: 10 } })
  expect(details?.statements).toMatchObject({
    polling: [expect.arrayContaining([{ query: expect.stringContaining('millrace.job'), calls: expect.any(Number) }])],
  })
}, 120_000)

test('idle says what is missing on a server that cannot count statements', async () => {
  expect(await bench(['idle'])).toMatchObject({ code: 1, err: expect.stringMatching(/lacks pg_stat_statements/) })
}, 120_000)
