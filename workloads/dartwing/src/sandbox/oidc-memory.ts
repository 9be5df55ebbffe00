// Where the OpenID provider of the sandbox keeps its tokens and grants: in memory, until they end.
import type { Adapter, AdapterPayload } from 'oidc-provider'

interface Kept {
  payload: AdapterPayload
  readonly endsAtMs: number
}

/** One for each provider. */
export function oidcMemory(): (model: string) => Adapter {
  const kept = new Map<string, Kept>()
  return (model) => {
    const key = (id: string) => `${model}:${id}`
    const alive = ({ endsAtMs }: Kept) => endsAtMs > Date.now()
    const find = async (id: string) => {
      const found = kept.get(key(id))
      return found !== undefined && alive(found) ? found.payload : undefined
    }
    const findBy = async (name: 'uid' | 'userCode', value: string) =>
      [...kept.values()].find((each) => alive(each) && each.payload[name] === value)?.payload
    return {
      async upsert(id, payload, expiresIn = 86_400) {
        kept.set(key(id), { payload, endsAtMs: Date.now() + expiresIn * 1_000 })
      },
      find,
      findByUid: (uid) => findBy('uid', uid),
      findByUserCode: (code) => findBy('userCode', code),
      async consume(id) {
        const found = kept.get(key(id))
        if (found !== undefined) found.payload = { ...found.payload, consumed: Math.floor(Date.now() / 1_000) }
      },
      async destroy(id) {
        kept.delete(key(id))
      },
      async revokeByGrantId(grantId) {
        for (const [id, { payload }] of kept) if (payload.grantId === grantId) kept.delete(id)
      },
    }
  }
}
