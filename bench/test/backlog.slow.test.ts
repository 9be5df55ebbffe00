import { expect, test } from 'vitest'
import { names, reportOf } from './run-bench.ts'

test('backlog measures a drain beside a deep backlog under good, old and no statistics', async () => {
  const { measurements, ratios } = await reportOf(['backlog', '--rounds', '1', '--jobs', '500', '--scale', '0.001'])
  expect(names(measurements)).toEqual([
    'empty tables',
    'deep backlog, fresh statistics',
    'deep backlog, stale statistics',
    'deep backlog, missing statistics',
  ])
  expect(ratios).toMatchObject(
    ['fresh', 'stale', 'missing'].map((statistics) => ({
      name: `${statistics} statistics / empty tables`,
      target: { atLeast: 0.85 },
      isMet: expect.any(Boolean),
    })),
  )
}, 120_000)
