#!/usr/bin/env node
let x: number