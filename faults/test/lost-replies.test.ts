import { testScenarios } from './scenario-suite.ts'

testScenarios('f05', 'f05b', 'f05c', 'f06', 'f07')
