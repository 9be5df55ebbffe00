import { expect, test } from 'vitest'
import { names, reportOf } from './run-bench.ts'

test('latency measures waits with LISTEN, by polling, in transactions and from both processes', async () => {
  const { measurements, ratios } = await reportOf(['latency', '--rounds', '1', '--jobs', '20'])
  const settings = [
    'another process',
    'another process, transaction',
    'another process, of a tenant',
    'own process',
    'own process, transaction',
    'another process, polling',
  ]
  expect(names(measurements)).toEqual(settings.flatMap((name) => [`${name}, p50`, `${name}, p99`]))
  expect(names(ratios)).toEqual(settings.map((name) => `${name}, p99 / p50`))
  expect(ratios[0]).toMatchObject({ target: { atMost: 3 }, isMet: expect.any(Boolean) })
  const medianOf = (name: string) => measurements.find((each) => each.name === name)?.median ?? 0
  expect(medianOf('another process, polling, p50')).toBeGreaterThan(medianOf('another process, p50'))
}, 120_000)
