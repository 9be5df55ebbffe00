// Settings that cannot be used stop the start, and say what to do.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Storage } from '#src/files/storage'
import { addressesOf } from '#src/outside/addresses'
import { readSettings } from '#src/settings'

test.each([
  ['DARTWING_FX_URL', 'https://fax.example', 'DARTWING_FX_URL is not a setting'],
  ['DARTWING_FAX_URL', 'fax.example', 'DARTWING_FAX_URL: expected an address like https://example.com'],
  ['DARTWING_SMTP_URL', 'https://mail.example', 'DARTWING_SMTP_URL: expected an address like smtp://'],
  ['DARTWING_BULK_RATE', 'tenant', 'DARTWING_BULK_RATE: expected queue or organization'],
  ['DARTWING_TIME_ZONE', 'Helsinki', 'DARTWING_TIME_ZONE: expected a time zone like Europe/Helsinki'],
  ['DARTWING_ALLOW', 'localhost', 'DARTWING_ALLOW: expected host:port pairs'],
])('%s=%s is refused', (name, value, problem) => {
  expect(() => readSettings({ [name]: value })).toThrow(problem)
})

test('half a key pair is refused, and the other half is named', () => {
  expect(() => readSettings({ DARTWING_VAPID_PUBLIC_KEY: 'B'.repeat(87) })).toThrow(
    'DARTWING_VAPID_PRIVATE_KEY is missing',
  )
})

test('every mistake is told at once', () => {
  expect(() => readSettings({ DARTWING_A: '1', DARTWING_SANDBOX: 'maybe' })).toThrow(
    /DARTWING_A is not[\s\S]*DARTWING_SANDBOX: expected on or off/,
  )
})

test('without a sandbox a missing address stops the start and names its variable', () => {
  const settings = readSettings({ DARTWING_FAX_URL: 'https://fax.example' })
  expect(() => addressesOf(settings)).toThrow(/DARTWING_FAX_PROJECT, .*DARTWING_MAIL_FROM, .* are not set/)
})

test('a folder that cannot be written is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dartwing-'))
  const file = join(folder, 'a-file')
  writeFileSync(file, '')
  await expect(new Storage(join(file, 'below')).check()).rejects.toThrow(
    `cannot write into DARTWING_FILES, ${file}/below`,
  )
})
