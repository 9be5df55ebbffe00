import { InvalidArgumentError } from 'commander'

/** Of an argument or option that is given as JSON. `what` names it in the error. */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new InvalidArgumentError(`${what} is not JSON: ${(error as Error).message}. Quote it, such as '{"n":1}'.`)
  }
}

export const parsePayload = (text: string): unknown => parseJson(text, 'The payload')
