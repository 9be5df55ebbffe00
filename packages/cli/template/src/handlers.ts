// What runs when a worker takes a job. A throw fails the attempt, and the contract says when it is tried again.
import { implement } from 'millrace'
import { greet } from './contracts.js'

export const greeter = implement(greet, ({ name }, ctx) => {
  ctx.log.info({ name }, 'greeting')
  return { text: `Hello, ${name}!` }
})
