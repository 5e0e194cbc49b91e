@echo off
rem Starts the command-line program of the extension in a terminal of the editor, with the Node.js
rem that the extension found, else with the one on the PATH.
setlocal
if defined PROVE_NODE_IS_ELECTRON set ELECTRON_RUN_AS_NODE=1
if not exist "%PROVE_NODE%" set PROVE_NODE=node
"%PROVE_NODE%" "%~dp0..\..\dist\cli.js" %*
