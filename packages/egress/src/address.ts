// Which addresses are public. Everything else is refused: private networks, this machine, cloud metadata, and IPv6
// forms that carry an IPv4 address past a check.
import ipaddr from 'ipaddr.js'

const KINDS: Record<string, string> = {
  unspecified: 'an unspecified address',
  broadcast: 'the broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'a link-local address',
  loopback: 'a loopback address',
  carrierGradeNat: 'a carrier-grade NAT address',
  private: 'a private address',
  uniqueLocal: 'a unique local address',
  ipv4Mapped: 'an IPv4-mapped address',
  rfc6145: 'an IPv4-translated address',
  rfc6052: 'a NAT64 address',
  '6to4': 'a 6to4 address',
  teredo: 'a Teredo address',
}

/** Azure serves the credentials of a machine at this address, which is public by its number only. */
const METADATA = new Set(['168.63.129.16'])

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * Says what `address` is if it is not public ("a loopback address"), else undefined. Text that is no address at all is
 * not public either.
 */
export function checkAddress(address: string): string | undefined {
  if (!isPlainAddress(address)) return 'not an IP address'
  const parsed = ipaddr.parse(address)
  return parsed instanceof ipaddr.IPv4 ? checkIPv4(parsed) : checkIPv6(parsed)
}

/** ipaddr.js also reads `127.1`, `0177.0.0.1` and `::1%eth0`. No resolver answers so. */
function isPlainAddress(address: string): boolean {
  if (address.includes(':')) return ipaddr.IPv6.isValid(address) && !address.includes('%')
  return ipaddr.IPv4.isValidFourPartDecimal(address)
}

function checkIPv4(address: ipaddr.IPv4): string | undefined {
  if (METADATA.has(address.toString())) return 'a cloud metadata address'
  const range = address.range()
  return range === 'unicast' ? undefined : (KINDS[range] ?? 'a reserved address')
}

function checkIPv6(address: ipaddr.IPv6): string | undefined {
  // An IPv6-only network reaches all of IPv4 through this prefix, so the address inside it decides.
  if (address.match(NAT64)) {
    const inside = checkIPv4(new ipaddr.IPv4(address.toByteArray().slice(12)))
    return inside === undefined ? undefined : `a NAT64 address for ${inside}`
  }
  const range = address.range()
  if (range === 'unicast') return address.match(GLOBAL_UNICAST) ? undefined : 'a reserved address'
  return KINDS[range] ?? 'a reserved address'
}
