import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const { mail: queue } = defineQueues({ mail: {} })
const letter = defineJob({ type: 'letter', queue, payload: z.object({}) })

test('a paused job is told by whom, since when, until when and why, and how to resume it', async () => {
  await using t = await setup()
  const millrace = t.client([letter])
  const { id } = await millrace.enqueue(letter, {}, { tenant: 'acme & sons' })
  const words = { reason: 'no toner', by: 'ann' }
  const first = await millrace.pauses.pause({ queue: 'mail', tenant: 'acme & sons' }, words)
  const second = await millrace.pauses.pause({ type: 'letter' }, { ...words, for: '1h' })
  await millrace.pauses.pause({ tenant: 'another' }, words)
  const { reasons } = await millrace.explain(id)
  expect(reasons.filter(({ mechanism }) => mechanism === 'pause')).toEqual([
    {
      mechanism: 'pause',
      sentence: `Paused by ann since ${first.createdAt.toISOString()}, until somebody resumes it (queue "mail", tenant "acme & sons"): no toner`,
      until: null,
      remedy: `millrace resume --queue mail --tenant 'acme & sons'`,
    },
    {
      mechanism: 'pause',
      sentence: `Paused by ann since ${second.createdAt.toISOString()}, until ${second.expiresAt?.toISOString()} (type "letter"): no toner`,
      until: second.expiresAt,
      remedy: 'millrace resume --type letter',
    },
  ])
})

test('a job of a suspended tenant is told so', async () => {
  await using t = await setup()
  const millrace = t.client([letter])
  const { id } = await millrace.enqueue(letter, {}, { tenant: 'acme' })
  const ofTenant = async () => (await millrace.explain(id)).reasons.filter(({ mechanism }) => mechanism === 'tenant')
  expect(await ofTenant()).toEqual([])
  const { updatedAt } = await millrace.tenants.suspend('acme', { by: 'bob', reason: 'the invoice is open' })
  expect(await ofTenant()).toEqual([
    {
      mechanism: 'tenant',
      sentence: `Tenant "acme" is suspended (last changed by bob at ${updatedAt.toISOString()}): the invoice is open`,
      until: null,
      remedy: 'millrace tenants resume acme',
    },
  ])
  await millrace.tenants.resume('acme', { by: 'bob' })
  expect(await ofTenant()).toEqual([])
})
