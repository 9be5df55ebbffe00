import { expect, test } from 'vitest'
import { names, reportOf } from './run-bench.ts'

test('metrics measures the drain with and without, and their ratio', async () => {
  const { measurements, ratios } = await reportOf(['metrics', '--rounds', '1', '--jobs', '600'])
  expect(names(measurements)).toEqual(['without metrics', 'with metrics, scraped'])
  expect(ratios).toMatchObject([{ name: 'with / without', target: { atLeast: 0.9 } }])
})

test('scrape measures how long a page takes, and says how many series it has', async () => {
  const { measurements, details } = await reportOf(['scrape', '--rounds', '1', '--scale', '0.0002'])
  expect(names(measurements)).toEqual([
    'scrape, Prometheus format',
    'scrape, OpenMetrics',
    'scrape while the database is read',
    'reading the database, in the background',
  ])
  expect(measurements[0]).toMatchObject({ unit: 'ms', target: { atMost: 200 } })
  expect(details?.series).toBeGreaterThan(1_000)
})
