import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkAddress } from '#src/address'

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '223.255.255.255',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
  '64:ff9b::8.8.8.8',
])('%s is public', (address) => {
  expect(checkAddress(address)).toBeUndefined()
})

test.each([
  '',
  'localhost',
  '127.1',
  '0177.0.0.1',
  '2130706433',
  '0x7f.1',
  '1.2.3.4.5',
  '1.2.3.256',
  '::1%lo',
  '[::1]',
])('%j is no address that a resolver answers', (address) => {
  expect(checkAddress(address)).toBe('not an IP address')
})

test('an IPv4 address that is refused is refused inside every IPv6 form too', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(fc.constantFrom('10', '127', '0'), octet, octet, octet, (first, b, c, d) => {
      const hex = [Number(first), b, c, d].map((part) => part.toString(16).padStart(2, '0'))
      const [high, low] = [`${hex[0]}${hex[1]}`, `${hex[2]}${hex[3]}`]
      const forms = ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'].map(
        (prefix) => `${prefix}${high}:${low}`,
      )
      for (const form of [`${first}.${b}.${c}.${d}`, ...forms, `2002:${high}:${low}::1`, `2001:0:${high}:${low}::1`]) {
        expect(checkAddress(form), form).toBeDefined()
      }
    }),
  )
})
