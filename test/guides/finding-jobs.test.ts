import { readFileSync } from 'node:fs'
import { defineJob, defineQueues, type Millrace, searchFields } from 'millrace'
import { jobInState } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { examplesOf } from '../../packages/engine/test/support/guide.ts'
import { setup } from '../../packages/engine/test/support/setup.ts'

const page = readFileSync(new URL('../../docs/guides/finding-jobs.md', import.meta.url), 'utf8')
const queues = defineQueues({ mail: {} })
const send = defineJob({ type: 'mail.send', queue: queues.mail, payload: z.object({}) })

test('the examples pass the type checker and do what the guide says', async () => {
  await using t = await setup()
  await using examples = await examplesOf('finding-jobs.md')
  expect(await examples.complaints()).toBe('')
  const { deadOf, howMany } = await examples.load<{
    deadOf(millrace: Millrace, queue: string): Promise<string[]>
    howMany(millrace: Millrace, query: string): Promise<string>
  }>('search.ts')
  const millrace = t.client([send])
  const dead = await jobInState(millrace, 'dead', { contract: send, payload: {} })
  await millrace.enqueue(send, {})
  expect(await deadOf(millrace, 'mail')).toEqual([dead.id])
  expect(await howMany(millrace, 'queue:mail')).toBe('2')
})

test('every query of the guide can be read, and every field is in it', async () => {
  await using t = await setup()
  const millrace = t.client([send])
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const queries = rows.map((line) => /^\| `(-?[^`]+)` \|/.exec(line)?.[1]).filter((query) => query?.includes(':'))
  const examples = [...page.matchAll(/\| `([^`]+)` \|$/gm)].map(([, query = '']) => query)
  expect(queries.length + examples.length).toBeGreaterThan(15)
  for (const query of [...queries, ...examples]) expect(millrace.search.read(query ?? '').problem, query).toBeNull()
  const documented = rows.join('\n')
  expect(searchFields.map(({ name }) => name).filter((name) => !documented.includes(`\`${name}`))).toEqual([])
})
