import { defineJob, defineQueues, payloadAttributes } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'

const { jobs: queue } = defineQueues({ jobs: {} })
const payload = z.object({})

test('a contract names the payload paths that identify its work', () => {
  expect(defineJob({ type: 'a', queue, payload, attributes: ['event_id', 'order.id'] }).attributes).toEqual([
    'event_id',
    'order.id',
  ])
  expect(defineJob({ type: 'b', queue, payload }).attributes).toEqual([])
})

test.each([
  ['sensitive', { sensitive: ['card.number'] }, 'card.number'],
  ['sensitive', { sensitive: ['card'] }, 'card.number'],
  ['sensitive', { sensitive: ['cards.*.number'] }, 'cards.0.number'],
  ['sensitive', { sensitive: ['cards.0'] }, 'cards.*.number'],
  ['sensitive', { sensitive: ['card.number'] }, 'card'],
  ['allowSecrets', { allowSecrets: ['auth.token'] }, 'auth.token'],
])('an attribute that %s covers is refused', (option, protection, path) => {
  expect(() => defineJob({ type: 'a', queue, payload, ...protection, attributes: [path] })).toThrow(
    `'${path}' in attributes, and ${option} covers it`,
  )
})

test('an attribute beside a sensitive value is not refused', () => {
  const { attributes } = defineJob({
    type: 'a',
    queue,
    payload,
    sensitive: ['card.number'],
    attributes: ['card.brand'],
  })
  expect(attributes).toEqual(['card.brand'])
})

test('a path that is none is refused', () => {
  expect(() => defineJob({ type: 'a', queue, payload, attributes: ['a..b'] })).toThrow('"a..b" in attributes')
})

test('values are read by path, several of them where it has a star', () => {
  const value = { id: 7, on: true, nothing: null, order: { id: 'o-1' }, items: [{ sku: 'x' }, { sku: 'y' }, {}] }
  expect(payloadAttributes(['id', 'on', 'nothing', 'order', 'order.id', 'items.*.sku', 'missing.id'], value)).toEqual({
    id: 7,
    on: true,
    'order.id': 'o-1',
    'items.*.sku': ['x', 'y'],
  })
  expect(payloadAttributes(['constructor'], {})).toEqual({})
  expect(payloadAttributes(['id'], null)).toEqual({})
})

test('values that look like secrets, or are called so, are taken out, and long ones are cut', () => {
  const told = payloadAttributes(['password', 'url', 'text', 'texts.*'], {
    password: 'hunter2hunter2',
    url: 'https://api.example/v1?access_token=canary-in-query&page=2',
    text: 'word '.repeat(100),
    texts: Array.from({ length: 50 }, (_, i) => `n${i}`),
  })
  expect(JSON.stringify(told)).not.toMatch(/hunter2|canary/)
  expect(told.url).toContain('page=2')
  expect(String(told.text)).toHaveLength(201)
  expect(told['texts.*']).toHaveLength(20)
})
