// Fails each test in which the engine holds a connection and asks the same pool for a second one.

import { afterEach } from 'vitest'
import { watchConnections } from '../packages/engine/dist/store/one-connection.js'

let violations: Error[] = []
watchConnections((violation) => violations.push(violation))

afterEach(() => {
  const [first] = violations
  violations = []
  if (first !== undefined) throw first
})
