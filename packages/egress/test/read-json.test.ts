import { readJson } from '@millrace/egress'
import { expect, test } from 'vitest'
import { failureOf } from './support/servers.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

test('JSON is read up to the depth that is allowed', async () => {
  expect(await readJson(new Response(' {"a":[1,"[[[[\\"[["]} '), { maxDepth: 2 })).toEqual({ a: [1, '[[[["[['] })
  expect(await readJson(new Response(nested(64)))).toBeInstanceOf(Array)
  const error = await failureOf(readJson(new Response(nested(65))))
  expect(error).toMatchObject({ code: 'json_too_deep', limit: 64 })
  expect(await failureOf(readJson(new Response('{"a":'.repeat(200_000))))).toMatchObject({ code: 'json_too_deep' })
})

test('what is no JSON is a bad response, which does not repeat the text', async () => {
  for (const text of ['<html>canary', '', '{"canary":', '"canary']) {
    const error = await failureOf(readJson(new Response(text, { status: 502 })))
    expect(error).toMatchObject({ code: 'bad_response', message: 'The answer (status 502) is not valid JSON.' })
    expect(error.cause).toBeUndefined()
  }
})

test('a long text with an open string is scanned in one pass', async () => {
  const started = performance.now()
  await failureOf(readJson(new Response(`"${'a\\"'.repeat(500_000)}`)))
  expect(performance.now() - started).toBeLessThan(2000)
})
