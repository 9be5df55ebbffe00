// A job whose payload is newer than the contract of this program waits for workers that know it.
import type { Explainer } from './reason.ts'

export const explainPayloadVersion: Explainer = async ({ type, payloadVersion }, { registry }) => {
  const known = registry.find(type)?.version
  if (known === undefined || payloadVersion <= known) return undefined
  return {
    mechanism: 'version',
    sentence: `Its payload has version ${payloadVersion}, and the contract knows version ${known} at most: workers with that contract give it back.`,
    until: null,
    remedy: `Deploy workers whose contract of "${type}" has version ${payloadVersion} or higher.`,
  }
}
