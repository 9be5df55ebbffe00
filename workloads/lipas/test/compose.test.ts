// compose.yaml says what the seed says, and its web process loads no handler.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../../test/support/document.ts'
import { services } from './support/compose.ts'

test('the worker has the seed’s settings, and more time to stop than its jobs have to end', () => {
  const { environment, container_name, stop_grace_period, command } = services['lipas-worker']
  for (const line of [
    'WORKER_FAST_THREADS=3',
    'WORKER_GENERAL_THREADS=5',
    'WORKER_BATCH_SIZE=20',
    'WORKER_POLL_INTERVAL_MS=1000',
  ])
    expect(environment).toContain(line)
  expect(container_name).toBe('lipas-worker')
  expect([command.join(' '), stop_grace_period]).toEqual([expect.stringContaining('--grace 110s'), '140s'])
  expect(
    new Set(Object.values(services).flatMap(({ image }) => (image?.startsWith('postgres') ? [] : [image]))),
  ).toEqual(new Set(['lipas:latest']))
})

test('the web process loads no handler', () => {
  const loaded = new Set<string>()
  const load = (file: string): void => {
    if (loaded.has(file)) return
    loaded.add(file)
    const text = readFileSync(file, 'utf8')
    for (const [, path = ''] of text.matchAll(/(?:from|import) '(\.[^']+)'/g)) load(join(dirname(file), path))
  }
  load(join(root, 'workloads/lipas/dist/src/web.js'))
  const names = [...loaded].map((file) => file.slice(file.indexOf('dist/src/')))
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => name.includes('handlers'))).toEqual([])
})
