#!/bin/bash
srun ./work
