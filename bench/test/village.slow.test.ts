import { expect, test, vi } from 'vitest'
import { bench } from './run-bench.ts'

vi.setConfig({ testTimeout: 60_000 })

test('village refreshes feeds beside a plain loop, with and without a delay', async () => {
  const { code, out } = await bench(['village', '--json', '--rounds', '1', '--jobs', '3'])
  expect(code).toBe(0)
  const { measurements, ratios } = JSON.parse(out)
  expect(measurements.map(({ name, unit }: { name: string; unit: string }) => `${name}: ${unit}`)).toEqual(
    [0, 50].flatMap((ms) =>
      ['village', 'rss-parser loop'].flatMap((who) =>
        ['feeds', 'items'].map((what) => `${who}, feeds after ${ms} ms, ${what}: ${what}/s`),
      ),
    ),
  )
  for (const { min } of measurements) expect(min).toBeGreaterThan(0)
  expect(ratios).toHaveLength(2)
})
